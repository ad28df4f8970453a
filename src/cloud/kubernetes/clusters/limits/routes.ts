import { type Static, Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { InvalidError, type QuotaExceededError } from '../../../../lib/errors.ts';
import { nullable, orNull, ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { quotasOf as nodeQuotas } from '../../../compute/instances/nodes/in-transaction.ts';
import { groupsFor } from '../../../compute/placement-groups/service.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import { exceededQuotasSchema, presentedExceeded } from '../../../ground/quotas/schema.ts';
import { exceededQuotas, type QuotaAmounts } from '../../../ground/quotas/service.ts';
import { creationGroups } from '../configuration/schema.ts';
import { kindProblems, poolOffer } from '../pools.ts';
import { type ClusterBase, MAX_POOLS, Nodes, PoolInput } from '../schema.ts';
import { CLUSTER_QUOTAS } from '../store.ts';

const { Optional } = Type;
const { name, flavor_id, max_node_count, boot_volume_size, servergroup_policy } = PoolInput.properties;

const QuotaPool = Type.Object(
  {
    flavor_id,
    name: Optional(nullable(name)),
    node_count: Optional(nullable(Nodes('Number of nodes; defaults to 1.'))),
    min_node_count: Optional(nullable(Nodes('Minimum number of nodes; defaults to 1. The larger of the two counts.'))),
    max_node_count,
    boot_volume_size,
    servergroup_policy,
  },
  {
    title: 'KubernetesQuotaPool',
    description: 'A pool to check.',
    additionalProperties: false,
  },
);
type QuotaPool = Static<typeof QuotaPool>;
/** The same schema as a request body: the example belongs to the body only. */
const CheckPoolLimits = { ...QuotaPool, examples: [{ flavor_id: 'g1-standard-2-4', node_count: 3 }] };

const CheckClusterLimits = Type.Object(
  {
    pools: Optional(orNull(Type.Array(QuotaPool, { maxItems: MAX_POOLS, description: 'Pools of the cluster.' }))),
    logging: creationGroups.logging,
  },
  {
    title: 'CheckKubernetesClusterLimits',
    description: 'A cluster to check.',
    additionalProperties: false,
    examples: [{ pools: [{ flavor_id: 'g1-standard-2-4', node_count: 3 }] }],
  },
);
type CheckClusterLimits = Static<typeof CheckClusterLimits>;

const ExceededClusterQuotas = exceededQuotasSchema('ExceededKubernetesQuotas', [
  'cluster_count',
  'firewall_count',
  'servergroup_count',
  'vm_count',
  'volume_count',
]);

type ExceededQuota = QuotaExceededError['info'];

/** @throws InvalidError for a flavor that isn't offered for pools in the region */
const limitsOfCluster = (on: Platform, scope: Scope, { pools }: CheckClusterLimits): Promise<ExceededQuota[]> =>
  exceeded(on, scope, {
    ...CLUSTER_QUOTAS,
    ...quotasOf(on, scope, pools ?? [], (index) => `pools.${index}.`),
  });

/** @throws as `limitsOfCluster` */
const limitsOfPool = (on: Platform, scope: Scope, pool: QuotaPool): Promise<ExceededQuota[]> =>
  exceeded(
    on,
    scope,
    quotasOf(on, scope, [pool], () => ''),
  );

function quotasOf(on: Platform, scope: Scope, pools: QuotaPool[], pathOf: (index: number) => string): QuotaAmounts {
  const offer = poolOffer(on.catalog, scope);
  const problems = pools.flatMap((pool, index) => kindProblems(pool, offer, [], pathOf(index)));
  if (problems.length > 0) throw new InvalidError(problems);
  const nodes = nodeQuotas(
    pools.map(({ flavor_id: flavorId, node_count: nodes, min_node_count: fewest }) => ({
      amount: Math.max(nodes ?? 1, fewest ?? 1),
      bootDisk: isBareMetal(flavorId) ? null : {},
    })),
  );
  const grouped = pools.map(({ flavor_id, servergroup_policy }) => ({
    // A virtual pool can't be made without a policy.
    servergroup_policy: isBareMetal(flavor_id) ? null : (servergroup_policy ?? 'anti-affinity'),
  }));
  return { ...nodes, servergroup_count: groupsFor(grouped) };
}

function exceeded(on: Platform, scope: Scope, quotas: QuotaAmounts): Promise<ExceededQuota[]> {
  return exceededQuotas(on.database.sql, scope, quotas);
}

const tags = ['Kubernetes clusters'];

/** Routes that ask about quotas, under the base path of one version. */
export function limitRoutes(app: Api, on: Platform, base: ClusterBase): void {
  const api = operations(app, { tags, params: ProjectRegionParams, access: 'read' });

  api.post(
    `${base.path}/check_limits`,
    `checkKubernetesClusterLimits${base.suffix}`,
    'Check quotas for a Kubernetes cluster',
    {
      onlyAsks: true,
      description:
        'Returns the quotas that a cluster with these pools would exceed. Nothing is reserved. Clusters, security groups, placement groups, machines and volumes are counted. There are no quotas for vCPUs, memory, GPUs and volume sizes. The topic of `logging` is not counted, since a cluster always gets it.',
      body: CheckClusterLimits,
      answer: ExceededClusterQuotas,
      handler: async ({ scope, body }) => presentedExceeded(await limitsOfCluster(on, scope, body)),
    },
  );

  api.post(
    `${base.path}/pools/check_limits`,
    `checkKubernetesPoolLimits${base.suffix}`,
    'Check quotas for a pool of a Kubernetes cluster',
    {
      onlyAsks: true,
      description: 'Returns the quotas that another pool like this would exceed. Nothing is reserved.',
      body: CheckPoolLimits,
      answer: ExceededClusterQuotas,
      handler: async ({ scope, body }) => presentedExceeded(await limitsOfPool(on, scope, body)),
    },
  );
}
