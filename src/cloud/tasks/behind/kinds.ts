import type { ClusterPools } from '../../clusters/pools/service.ts';
import type { Clusters } from '../../clusters/service.ts';
import type { DdosProfiles } from '../../ddos/service.ts';
import type { FileShares } from '../../file-shares/service.ts';
import type { FloatingIps } from '../../floating-ips/service.ts';
import type { Images } from '../../images/service.ts';
import type { Instances } from '../../instances/service.ts';
import type { L7Rules } from '../../load-balancers/l7policies/l7rules.ts';
import type { L7Policies } from '../../load-balancers/l7policies/service.ts';
import type { Listeners } from '../../load-balancers/listeners/service.ts';
import type { PoolMembers } from '../../load-balancers/pools/members.ts';
import type { Pools } from '../../load-balancers/pools/service.ts';
import type { LoadBalancers } from '../../load-balancers/service.ts';
import type { Networks } from '../../networks/service.ts';
import type { PlacementGroups } from '../../placement-groups/service.ts';
import type { ReservedFixedIps } from '../../reserved-fixed-ips/service.ts';
import type { Routers } from '../../routers/service.ts';
import type { StoredSecrets } from '../../secrets/service.ts';
import type { Snapshots } from '../../snapshots/service.ts';
import type { Volumes } from '../../volumes/service.ts';

/** The services whose deletions may wait. */
export interface Deleters {
  clusterPools: ClusterPools;
  clusters: Clusters;
  ddosProfiles: DdosProfiles;
  fileShares: FileShares;
  floatingIps: FloatingIps;
  images: Images;
  instances: Instances;
  l7Policies: L7Policies;
  l7Rules: L7Rules;
  listeners: Listeners;
  loadBalancers: LoadBalancers;
  networks: Networks;
  placementGroups: PlacementGroups;
  poolMembers: PoolMembers;
  pools: Pools;
  reservedFixedIps: ReservedFixedIps;
  routers: Routers;
  snapshots: Snapshots;
  storedSecrets: StoredSecrets;
  volumes: Volumes;
}

/** A kind of deletion, by the type of its task: which method of which service does it. */
export interface DeletionKind {
  service: keyof Deleters;
  method: 'delete' | 'deleteSubnet' | 'remove';
  /** The names of the method's arguments, which the task shows while it waits. */
  shown: readonly string[];
}

const by = (
  service: keyof Deleters,
  shown: string | readonly string[],
  method: DeletionKind['method'] = 'delete',
): DeletionKind => ({ service, method, shown: [shown].flat() });

export const DELETION_KINDS: Readonly<Record<string, DeletionKind>> = {
  delete_ddos_profile: by('ddosProfiles', 'profile_id'),
  delete_fip: by('floatingIps', 'floating_ip_id'),
  delete_image: by('images', 'image_id'),
  delete_k8s_cluster_pool_v2: by('clusterPools', ['cluster_name', 'pool_name']),
  delete_k8s_cluster_v2: by('clusters', 'cluster_name'),
  delete_l7policy: by('l7Policies', 'l7policy_id'),
  delete_l7rule: by('l7Rules', ['l7policy_id', 'l7rule_id']),
  delete_lblistener: by('listeners', 'listener_id'),
  delete_lbmember: by('poolMembers', ['pool_id', 'member_id'], 'remove'),
  delete_lbpool: by('pools', 'pool_id'),
  delete_loadbalancer: by('loadBalancers', 'load_balancer_id'),
  delete_network: by('networks', 'network_id'),
  delete_reserved_fixed_ip: by('reservedFixedIps', 'port_id'),
  delete_router: by('routers', 'router_id'),
  delete_secret: by('storedSecrets', 'secret_id'),
  delete_servergroup: by('placementGroups', 'servergroup_id'),
  delete_sfs: by('fileShares', 'file_share_id'),
  delete_snapshot: by('snapshots', 'snapshot_id'),
  delete_subnet: by('networks', 'subnet_id', 'deleteSubnet'),
  delete_vm: by('instances', 'instance_id'),
  delete_volume: by('volumes', ['volume_id', 'snapshots']),
};
