import { InvalidError, type QuotaExceededError } from '../../../../lib/errors.ts';
import type { Platform } from '../../../../platform.ts';
import { quotasOf as nodeQuotas } from '../../../compute/instances/nodes/in-transaction.ts';
import { groupsFor } from '../../../compute/placement-groups/service.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { exceededQuotas, type QuotaAmounts } from '../../../ground/quotas/service.ts';
import { kindProblems, poolOffer } from '../pools.ts';
import { CLUSTER_QUOTAS } from '../store.ts';
import type { CheckClusterLimits, QuotaPool } from './schema.ts';

type ExceededQuota = QuotaExceededError['info'];

/** @throws InvalidError for a flavor that isn't offered for pools in the region */
export const limitsOfCluster = (
  on: Platform,
  scope: Scope,
  { pools }: CheckClusterLimits,
): Promise<ExceededQuota[]> =>
  exceeded(on, scope, {
    ...CLUSTER_QUOTAS,
    ...quotasOf(on, scope, pools ?? [], (index) => `pools.${index}.`),
  });

/** @throws as `limitsOfCluster` */
export const limitsOfPool = (on: Platform, scope: Scope, pool: QuotaPool): Promise<ExceededQuota[]> =>
  exceeded(
    on,
    scope,
    quotasOf(on, scope, [pool], () => ''),
  );

function quotasOf(
  on: Platform,
  scope: Scope,
  pools: QuotaPool[],
  pathOf: (index: number) => string,
): QuotaAmounts {
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
