import { type Static, Type } from 'typebox';
import { nullable, orNull } from '../../../../lib/wire.ts';
import { exceededQuotasSchema } from '../../../ground/quotas/schema.ts';
import { creationGroups } from '../configuration/schema.ts';
import { MAX_POOLS, Nodes, PoolInput } from '../schema.ts';

const { Optional } = Type;
const { name, flavor_id, max_node_count, boot_volume_size, servergroup_policy } = PoolInput.properties;

export const QuotaPool = Type.Object(
  {
    flavor_id,
    name: Optional(nullable(name)),
    node_count: Optional(nullable(Nodes('Number of nodes; defaults to 1.'))),
    min_node_count: Optional(
      nullable(Nodes('Minimum number of nodes; defaults to 1. The larger of the two counts.')),
    ),
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
export type QuotaPool = Static<typeof QuotaPool>;
/** The same schema as a request body: the example belongs to the body only. */
export const CheckPoolLimits = { ...QuotaPool, examples: [{ flavor_id: 'g1-standard-2-4', node_count: 3 }] };

export const CheckClusterLimits = Type.Object(
  {
    pools: Optional(
      orNull(Type.Array(QuotaPool, { maxItems: MAX_POOLS, description: 'Pools of the cluster.' })),
    ),
    logging: creationGroups.logging,
  },
  {
    title: 'CheckKubernetesClusterLimits',
    description: 'A cluster to check.',
    additionalProperties: false,
    examples: [{ pools: [{ flavor_id: 'g1-standard-2-4', node_count: 3 }] }],
  },
);
export type CheckClusterLimits = Static<typeof CheckClusterLimits>;

export const ExceededClusterQuotas = exceededQuotasSchema('ExceededKubernetesQuotas', [
  'cluster_count',
  'firewall_count',
  'servergroup_count',
  'vm_count',
  'volume_count',
]);
