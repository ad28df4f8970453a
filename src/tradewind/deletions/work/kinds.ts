import type { Instances } from '../../../cloud/compute/instances/service.ts';
import type { PlacementGroups } from '../../../cloud/compute/placement-groups/service.ts';
import type { SshKeys } from '../../../cloud/compute/ssh-keys/service.ts';
import type { Logging } from '../../../cloud/ground/logging/service.ts';
import type { Scope } from '../../../cloud/ground/projects/service.ts';
import type { Clusters } from '../../../cloud/kubernetes/clusters/service.ts';
import type { LoadBalancers } from '../../../cloud/load-balancing/load-balancers/service.ts';
import type { StoredSecrets } from '../../../cloud/load-balancing/secrets/service.ts';
import type { DdosProfiles } from '../../../cloud/network/ddos/service.ts';
import type { FloatingIps } from '../../../cloud/network/floating-ips/service.ts';
import type { Networks } from '../../../cloud/network/networks/service.ts';
import type { ReservedFixedIps } from '../../../cloud/network/reserved-fixed-ips/service.ts';
import type { Routers } from '../../../cloud/network/routers/service.ts';
import type { SecurityGroups } from '../../../cloud/network/security-groups/service.ts';
import type { FileShares } from '../../../cloud/storage/file-shares/service.ts';
import type { Images } from '../../../cloud/storage/images/service.ts';
import type { Snapshots } from '../../../cloud/storage/snapshots/service.ts';
import type { Volumes } from '../../../cloud/storage/volumes/service.ts';

/** The services that delete what is in a project. */
export interface Removers {
  clusters: Pick<Clusters, 'delete'>;
  ddosProfiles: Pick<DdosProfiles, 'delete'>;
  fileShares: Pick<FileShares, 'delete'>;
  floatingIps: Pick<FloatingIps, 'delete'>;
  images: Pick<Images, 'delete'>;
  instances: Pick<Instances, 'delete'>;
  loadBalancers: Pick<LoadBalancers, 'delete'>;
  logging: Pick<Logging, 'deleteTopic' | 'setStatus'>;
  networks: Pick<Networks, 'delete' | 'deleteSubnet'>;
  placementGroups: Pick<PlacementGroups, 'delete'>;
  reservedFixedIps: Pick<ReservedFixedIps, 'delete'>;
  routers: Pick<Routers, 'delete'>;
  securityGroups: Pick<SecurityGroups, 'delete' | 'removeRule'>;
  snapshots: Pick<Snapshots, 'delete'>;
  sshKeys: Pick<SshKeys, 'delete'>;
  storedSecrets: Pick<StoredSecrets, 'delete'>;
  volumes: Pick<Volumes, 'delete'>;
}

/** A kind of thing in projects, and how to find and delete it. */
export interface Kind {
  kind: string;
  /** Kinds of a higher stage wait for those of lower ones, which use them. */
  stage: number;
  table: string;
  /** SQL: what the service knows it by. */
  key?: string;
  /** SQL: which rows of the project are not deleted with something else. */
  own?: string;
  /** SQL: whether a task holds it. Its end changes that, or deletes it. */
  held?: string;
  /** SQL: its region; null for what is in none. */
  region?: string;
  /** SQL: the user who alone may delete it. */
  user?: string;
  remove(removers: Removers, scope: Scope, key: string): Promise<unknown>;
}

const HELD = 'task_id is not null';
const IN_GROUPS = `security_group_rules join security_groups on security_groups.id = security_group_id`;
const IN_NETWORKS = `subnets join networks on networks.id = network_id`;

/**
 * What projects have, in the order of its removal. A thing that is still in use is refused by its service, and tried again
 * later: the stages save attempts. While something of a stage can't go, what is in later ones stays too.
 */
export const KINDS: readonly Kind[] = [
  {
    kind: 'cluster',
    stage: 1,
    table: 'kubernetes_clusters',
    key: 'name',
    held: HELD,
    remove: ({ clusters }, scope, name) => clusters.delete(scope, name, []),
  },
  {
    kind: 'ddos_profile',
    stage: 1,
    table: 'ddos_profiles',
    held: HELD,
    remove: ({ ddosProfiles }, scope, id) => ddosProfiles.delete(scope, Number(id)),
  },
  {
    kind: 'load_balancer',
    stage: 2,
    table: 'load_balancers',
    held: HELD,
    remove: ({ loadBalancers }, scope, id) => loadBalancers.delete(scope, id),
  },
  {
    kind: 'instance',
    stage: 2,
    table: 'instances',
    own: 'pool_id is null',
    held: HELD,
    remove: ({ instances }, scope, id) =>
      instances.delete(scope, id, {
        volumes: [],
        floatings: [],
        reservedFixedIps: [],
        deleteFloatings: false,
      }),
  },
  {
    kind: 'log_topic',
    stage: 2,
    table: 'logging_topics',
    key: 'name',
    remove: ({ logging }, scope, name) => logging.deleteTopic(scope, name),
  },
  {
    kind: 'logging',
    stage: 3,
    table: 'logging_services',
    key: 'namespace',
    remove: ({ logging }, scope) => logging.setStatus(scope, { is_initialized: false }),
  },
  {
    kind: 'floating_ip',
    stage: 3,
    table: 'floating_ips',
    held: HELD,
    remove: ({ floatingIps }, scope, id) => floatingIps.delete(scope, id),
  },
  {
    kind: 'snapshot',
    stage: 3,
    table: 'snapshots',
    held: HELD,
    remove: ({ snapshots }, scope, id) => snapshots.delete(scope, id),
  },
  {
    kind: 'file_share',
    stage: 3,
    table: 'file_shares',
    held: HELD,
    remove: ({ fileShares }, scope, id) => fileShares.delete(scope, id),
  },
  {
    kind: 'volume',
    stage: 4,
    table: 'volumes',
    held: HELD,
    remove: ({ volumes }, scope, id) => volumes.delete(scope, id, []),
  },
  {
    kind: 'reserved_fixed_ip',
    stage: 4,
    table: 'ports',
    own: 'reserved',
    held: HELD,
    remove: ({ reservedFixedIps }, scope, id) => reservedFixedIps.delete(scope, id),
  },
  {
    kind: 'router',
    stage: 4,
    table: 'routers',
    held: HELD,
    remove: ({ routers }, scope, id) => routers.delete(scope, id),
  },
  {
    kind: 'image',
    stage: 5,
    table: 'images',
    held: HELD,
    remove: ({ images }, scope, id) => images.delete(scope, id),
  },
  {
    kind: 'network',
    stage: 5,
    table: 'networks',
    own: 'not is_default',
    held: HELD,
    remove: ({ networks }, scope, id) => networks.delete(scope, id),
  },
  {
    kind: 'subnet',
    stage: 5,
    table: IN_NETWORKS,
    key: 'subnets.id',
    own: 'networks.is_default and subnets.creator_task_id is not null',
    held: 'subnets.task_id is not null',
    remove: ({ networks }, scope, id) => networks.deleteSubnet(scope, id),
  },
  {
    // Groups that name each other could not go.
    kind: 'security_group_rule',
    stage: 5,
    table: IN_GROUPS,
    key: 'security_group_rules.id',
    own: 'remote_group_id <> security_group_id and cluster_id is null',
    remove: ({ securityGroups }, scope, id) => securityGroups.removeRule(scope, id),
  },
  {
    kind: 'security_group',
    stage: 6,
    table: 'security_groups',
    own: 'not is_default and cluster_id is null',
    remove: ({ securityGroups }, scope, id) => securityGroups.delete(scope, id),
  },
  {
    kind: 'placement_group',
    stage: 6,
    table: 'server_groups',
    own: 'pool_id is null',
    held: HELD,
    remove: ({ placementGroups }, scope, id) => placementGroups.delete(scope, id),
  },
  {
    kind: 'secret',
    stage: 6,
    table: 'secrets',
    held: HELD,
    remove: ({ storedSecrets }, scope, id) => storedSecrets.delete(scope, id),
  },
  {
    kind: 'ssh_key',
    stage: 6,
    table: 'ssh_keys',
    region: 'null',
    user: 'user_id',
    remove: ({ sshKeys }, scope, id) => sshKeys.delete(scope, id),
  },
];

/** @throws TypeError */
export function kindOf(name: string): Kind {
  const kind = KINDS.find((one) => one.kind === name);
  if (!kind) throw new TypeError(`Projects have no ${name}`);
  return kind;
}
