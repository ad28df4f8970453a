import type { ClusterPoolSpec, ClusterSpec } from '../../backends/contract/specs.ts';
import { change, make, type Wanted } from '../../convergence/wants.ts';
import type { Transaction } from '../../db/database.ts';
import type { Nodes } from '../instances/nodes/service.ts';
import { workerGroups } from '../security-groups/worker-group.ts';
import type { ClusterConfiguration } from './configuration/configuration.ts';
import { bootDiskOf } from './nodes/pool-nodes.ts';
import type { SshKeyLookup } from './references.ts';
import type { ClusterRow, NewPool } from './store.ts';

/** A cluster as it is to be; its nodes are in their rows. */
type Described = Pick<
  ClusterRow,
  | 'id'
  | 'name'
  | 'version'
  | 'keypair'
  | 'fixed_network'
  | 'fixed_subnet'
  | 'is_ipv6'
  | 'pods_ip_pool'
  | 'pods_ipv6_pool'
  | 'services_ip_pool'
  | 'services_ipv6_pool'
  | 'vast_nfs_enabled'
> & { configuration: ClusterConfiguration; pools: readonly NewPool[] };

/** What is wanted of clusters, always whole: nodes that are on their way out aren't wanted any more. */
export interface ClusterWants {
  made(tx: Transaction, place: { projectId: number }, cluster: Described): Promise<Wanted>;
  changed(tx: Transaction, place: { projectId: number }, cluster: Described): Promise<Wanted>;
}

export function createClusterWants(deps: {
  sshKeys: Pick<SshKeyLookup, 'keep'>;
  nodes: Pick<Nodes, 'specsOf'>;
}): ClusterWants {
  const { sshKeys, nodes } = deps;

  async function specOf(
    tx: Transaction,
    place: { projectId: number },
    cluster: Described,
  ): Promise<ClusterSpec> {
    const { configuration, pools } = cluster;
    const slurmKeyIds = configuration.add_ons.slurm.ssh_key_ids?.map((id) => id.toLowerCase()) ?? [];
    const keys = await sshKeys.keep(tx, place, { names: [cluster.keypair], ids: slurmKeyIds });
    const own = keys.find(({ name }) => name === cluster.keypair);
    const slurmKeys = keys.filter(({ id }) => slurmKeyIds.includes(id));
    const groupId = await workerGroups.of(tx, cluster.id);
    const nodesOf = await nodes.specsOf(
      tx,
      pools.map(({ id }) => id),
    );
    return {
      name: cluster.name,
      version: cluster.version,
      ...(own && { publicKey: own.public_key }),
      network: {
        ...(cluster.fixed_network && { networkId: cluster.fixed_network }),
        ...(cluster.fixed_subnet && { subnetId: cluster.fixed_subnet }),
        ipv6: cluster.is_ipv6,
      },
      pods: rangesOf(cluster.pods_ip_pool, cluster.pods_ipv6_pool),
      services: rangesOf(cluster.services_ip_pool, cluster.services_ipv6_pool),
      vastShares: cluster.vast_nfs_enabled,
      configuration: withoutNulls(configuration),
      slurmPublicKeys: Object.fromEntries(slurmKeys.map((key) => [key.id, key.public_key])),
      pools: Object.fromEntries(
        pools.map((pool) => [pool.name, { ...poolSpec(pool, groupId), nodes: nodesOf.get(pool.id) ?? {} }]),
      ),
    };
  }

  return {
    async made(tx, place, cluster) {
      return make('cluster', cluster.id, await specOf(tx, place, cluster));
    },
    async changed(tx, place, cluster) {
      const spec = await specOf(tx, place, cluster);
      return change('cluster', cluster.id, () => spec);
    },
  };
}

function poolSpec(pool: NewPool, workerGroupId: string | undefined): Omit<ClusterPoolSpec, 'nodes'> {
  const disk = bootDiskOf(pool);
  const groupIds = [...(workerGroupId === undefined ? [] : [workerGroupId]), ...pool.security_group_ids];
  return {
    id: pool.id,
    flavorId: pool.flavor_id,
    ...(disk && { bootVolume: { sizeGib: disk.sizeGib, type: disk.volumeType } }),
    ...(pool.servergroup_policy !== null && { serverGroupPolicy: pool.servergroup_policy }),
    publicAddresses: pool.is_public_ipv4,
    minNodes: pool.min_node_count,
    maxNodes: pool.max_node_count,
    autoHealing: pool.auto_healing_enabled,
    labels: pool.labels,
    taints: pool.taints,
    crioConfig: pool.crio_config,
    kubeletConfig: pool.kubelet_config,
    securityGroups: Object.fromEntries(groupIds.map((id) => [id, true])),
  };
}

function rangesOf(ipv4: string, ipv6: string | null): { ipv4: string; ipv6?: string } {
  return { ipv4, ...(ipv6 !== null && { ipv6 }) };
}

/** At every depth: null can't be told from absent once a change is taken back by a merge patch. */
function withoutNulls(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value, (_name, member) => member ?? undefined));
}
