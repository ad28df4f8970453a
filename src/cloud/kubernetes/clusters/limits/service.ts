import type { Database } from '../../../../db/database.ts';
import { InvalidError, type QuotaExceededError } from '../../../../lib/errors.ts';
import { quotasOf as nodeQuotas } from '../../../compute/instances/nodes/in-transaction.ts';
import { groupsFor } from '../../../compute/placement-groups/in-transaction.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { Catalog } from '../../../ground/catalog/service.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { exceededQuotas, type QuotaAmounts } from '../../../ground/quotas/in-transaction.ts';
import { kindProblems, poolOffer } from '../pools.ts';
import { CLUSTER_QUOTAS } from '../quotas.ts';
import type { CheckClusterLimits, QuotaPool } from './schema.ts';

type ExceededQuota = QuotaExceededError['info'];

/** Says whether quotas leave room for possible clusters and pools. Takes nothing. */
export interface ClusterLimits {
  /** @throws InvalidError for a flavor that isn't offered for pools in the region */
  ofCluster(scope: Scope, request: CheckClusterLimits): Promise<ExceededQuota[]>;
  /** @throws as `ofCluster` */
  ofPool(scope: Scope, pool: QuotaPool): Promise<ExceededQuota[]>;
}

export function createClusterLimits(deps: { database: Database; catalog: Catalog }): ClusterLimits {
  const { database, catalog } = deps;

  return {
    ofCluster: (scope, { pools }) =>
      exceeded(scope, { ...CLUSTER_QUOTAS, ...quotasOf(scope, pools ?? [], (index) => `pools.${index}.`) }),
    ofPool: (scope, pool) =>
      exceeded(
        scope,
        quotasOf(scope, [pool], () => ''),
      ),
  };

  function quotasOf(scope: Scope, pools: QuotaPool[], pathOf: (index: number) => string): QuotaAmounts {
    const offer = poolOffer(catalog, scope);
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

  function exceeded(scope: Scope, quotas: QuotaAmounts): Promise<ExceededQuota[]> {
    return exceededQuotas(database.sql, scope, quotas);
  }
}
