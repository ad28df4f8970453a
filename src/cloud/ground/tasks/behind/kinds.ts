import type { Scope } from '../../projects/service.ts';

/** A kind of deletion, by the type of its task: which method of which service does it. */
export interface DeletionKind {
  service: keyof Deleters;
  method: 'delete' | 'deleteSubnet' | 'remove';
  /** What the method's first arguments are: together they name what is deleted. */
  names: readonly string[];
  /** What the arguments after those are, as far as the task shows them while it waits. */
  options: readonly string[];
}

const by = <Service extends string, Method extends DeletionKind['method'] = 'delete'>(
  service: Service,
  names: string | readonly string[],
  { method = 'delete' as Method, options = [] as string[] } = {},
) => ({ service, method, names: [names].flat(), options });

const KINDS = {
  delete_ddos_profile: by('ddosProfiles', 'profile_id'),
  delete_fip: by('floatingIps', 'floating_ip_id'),
  delete_image: by('images', 'image_id'),
  delete_k8s_cluster_pool_v2: by('clusterPools', ['cluster_name', 'pool_name']),
  delete_k8s_cluster_v2: by('clusters', 'cluster_name'),
  delete_l7policy: by('l7Policies', 'l7policy_id'),
  delete_l7rule: by('l7Rules', ['l7policy_id', 'l7rule_id']),
  delete_lblistener: by('listeners', 'listener_id'),
  delete_lbmember: by('poolMembers', ['pool_id', 'member_id'], { method: 'remove' }),
  delete_lbpool: by('pools', 'pool_id'),
  delete_loadbalancer: by('loadBalancers', 'load_balancer_id'),
  delete_network: by('networks', 'network_id'),
  delete_reserved_fixed_ip: by('reservedFixedIps', 'port_id'),
  delete_router: by('routers', 'router_id'),
  delete_secret: by('storedSecrets', 'secret_id'),
  delete_servergroup: by('placementGroups', 'servergroup_id'),
  delete_sfs: by('fileShares', 'file_share_id'),
  delete_snapshot: by('snapshots', 'snapshot_id'),
  delete_subnet: by('networks', 'subnet_id', { method: 'deleteSubnet' }),
  delete_vm: by('instances', 'instance_id'),
  delete_volume: by('volumes', 'volume_id', { options: ['snapshots'] }),
};

export const DELETION_KINDS: Readonly<Record<string, DeletionKind>> = KINDS;

type Kind = (typeof KINDS)[keyof typeof KINDS];
type Remove = (scope: Scope, ...args: never[]) => Promise<string | undefined>;

/** The services whose deletions may wait. */
export type Deleters = { [One in Kind as One['service']]: Record<One['method'], Remove> };
