import { deleteInstance } from '../../../cloud/compute/instances/service.ts';
import { deletePlacementGroup } from '../../../cloud/compute/placement-groups/service.ts';
import { deleteSshKey } from '../../../cloud/compute/ssh-keys/service.ts';
import { deleteLogTopic, setLoggingStatus } from '../../../cloud/ground/logging/service.ts';
import type { Scope } from '../../../cloud/ground/projects/service.ts';
import { deleteCluster } from '../../../cloud/kubernetes/clusters/service.ts';
import { deleteLoadBalancer } from '../../../cloud/load-balancing/load-balancers/service.ts';
import { deleteSecret } from '../../../cloud/load-balancing/secrets/service.ts';
import { deleteDdosProfile } from '../../../cloud/network/ddos/service.ts';
import { deleteFloatingIp } from '../../../cloud/network/floating-ips/service.ts';
import { deleteNetwork } from '../../../cloud/network/networks/changes.ts';
import { deleteSubnet } from '../../../cloud/network/networks/subnets/changes.ts';
import { deleteReservedFixedIp } from '../../../cloud/network/reserved-fixed-ips/service.ts';
import { deleteRouter } from '../../../cloud/network/routers/service.ts';
import { removeRule } from '../../../cloud/network/security-groups/rules/changes.ts';
import { deleteSecurityGroup } from '../../../cloud/network/security-groups/service.ts';
import { deleteFileShare } from '../../../cloud/storage/file-shares/service.ts';
import { deleteImage } from '../../../cloud/storage/images/service.ts';
import { deleteVolume } from '../../../cloud/storage/volumes/service.ts';
import { deleteSnapshot } from '../../../cloud/storage/volumes/snapshots/service.ts';
import type { Platform } from '../../../platform.ts';

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
  remove(on: Platform, scope: Scope, key: string): Promise<unknown>;
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
    remove: (on, scope, name) => deleteCluster(on, scope, name, []),
  },
  {
    kind: 'ddos_profile',
    stage: 1,
    table: 'ddos_profiles',
    held: HELD,
    remove: (on, scope, id) => deleteDdosProfile(on, scope, Number(id)),
  },
  {
    kind: 'load_balancer',
    stage: 2,
    table: 'load_balancers',
    held: HELD,
    remove: (on, scope, id) => deleteLoadBalancer(on, scope, id),
  },
  {
    kind: 'instance',
    stage: 2,
    table: 'instances',
    own: 'pool_id is null',
    held: HELD,
    remove: (on, scope, id) =>
      deleteInstance(on, scope, id, {
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
    remove: (on, scope, name) => deleteLogTopic(on, scope, name),
  },
  {
    kind: 'logging',
    stage: 3,
    table: 'logging_services',
    key: 'namespace',
    remove: (on, scope) => setLoggingStatus(on, scope, { is_initialized: false }),
  },
  {
    kind: 'floating_ip',
    stage: 3,
    table: 'floating_ips',
    held: HELD,
    remove: (on, scope, id) => deleteFloatingIp(on, scope, id),
  },
  {
    kind: 'snapshot',
    stage: 3,
    table: 'snapshots',
    held: HELD,
    remove: (on, scope, id) => deleteSnapshot(on, scope, id),
  },
  {
    kind: 'file_share',
    stage: 3,
    table: 'file_shares',
    held: HELD,
    remove: (on, scope, id) => deleteFileShare(on, scope, id),
  },
  {
    kind: 'volume',
    stage: 4,
    table: 'volumes',
    held: HELD,
    remove: (on, scope, id) => deleteVolume(on, scope, id, []),
  },
  {
    kind: 'reserved_fixed_ip',
    stage: 4,
    table: 'ports',
    own: 'reserved',
    held: HELD,
    remove: (on, scope, id) => deleteReservedFixedIp(on, scope, id),
  },
  {
    kind: 'router',
    stage: 4,
    table: 'routers',
    held: HELD,
    remove: (on, scope, id) => deleteRouter(on, scope, id),
  },
  {
    kind: 'image',
    stage: 5,
    table: 'images',
    held: HELD,
    remove: (on, scope, id) => deleteImage(on, scope, id),
  },
  {
    kind: 'network',
    stage: 5,
    table: 'networks',
    own: 'not is_default',
    held: HELD,
    remove: (on, scope, id) => deleteNetwork(on, scope, id),
  },
  {
    kind: 'subnet',
    stage: 5,
    table: IN_NETWORKS,
    key: 'subnets.id',
    own: 'networks.is_default and subnets.creator_task_id is not null',
    held: 'subnets.task_id is not null',
    remove: (on, scope, id) => deleteSubnet(on, scope, id),
  },
  {
    // Groups that name each other could not go.
    kind: 'security_group_rule',
    stage: 5,
    table: IN_GROUPS,
    key: 'security_group_rules.id',
    own: 'remote_group_id <> security_group_id and cluster_id is null',
    remove: (on, scope, id) => removeRule(on, scope, id),
  },
  {
    kind: 'security_group',
    stage: 6,
    table: 'security_groups',
    own: 'not is_default and cluster_id is null',
    remove: (on, scope, id) => deleteSecurityGroup(on, scope, id),
  },
  {
    kind: 'placement_group',
    stage: 6,
    table: 'server_groups',
    own: 'pool_id is null',
    held: HELD,
    remove: (on, scope, id) => deletePlacementGroup(on, scope, id),
  },
  {
    kind: 'secret',
    stage: 6,
    table: 'secrets',
    held: HELD,
    remove: (on, scope, id) => deleteSecret(on, scope, id),
  },
  {
    kind: 'ssh_key',
    stage: 6,
    table: 'ssh_keys',
    region: 'null',
    user: 'user_id',
    remove: (on, scope, id) => deleteSshKey(on, scope, id),
  },
];

/** @throws TypeError */
export function kindOf(name: string): Kind {
  const kind = KINDS.find((one) => one.kind === name);
  if (!kind) throw new TypeError(`Projects have no ${name}`);
  return kind;
}
