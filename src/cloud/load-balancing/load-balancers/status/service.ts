import type { Database } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { foundById } from '../../../../lib/found.ts';
import type { MetricsQuestion } from '../../../../lib/idle-times.ts';
import type { Catalog } from '../../../ground/catalog/service.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { usableFlavor } from '../flavors/flavors.ts';
import { findBalancer, idsOfAll } from '../store.ts';
import type { Edits } from '../tree/edits.ts';
import { forestsOf } from '../tree/parts.ts';
import { FAIL_OVER, RESIZE } from '../tree/tasks.ts';
import { idleMetrics } from './metrics.ts';
import { presentedStatus } from './presenter.ts';
import type { LoadBalancerStatus } from './schema.ts';

/** How load balancers are doing, and what to do about it. */
export interface LoadBalancerCare {
  /** @throws NotFoundError */
  status(scope: Scope, id: string): Promise<LoadBalancerStatus>;
  /** Newest first. */
  statuses(scope: Scope): Promise<LoadBalancerStatus[]>;
  /** @throws NotFoundError */
  metrics(scope: Scope, id: string, question: MetricsQuestion): Promise<ReturnType<typeof idleMetrics>>;
  /** Returns the task that gives it another flavor. @throws NotFoundError, InvalidError, ForbiddenError, ConflictError */
  resize(scope: Scope, id: string, flavorId: string): Promise<string>;
  /** Returns the task that replaces its machines. @throws NotFoundError, ConflictError while a task holds it */
  failOver(scope: Scope, id: string): Promise<string>;
}

export function createLoadBalancerCare(deps: {
  database: Database;
  clock: Clock;
  catalog: Catalog;
  edits: Edits;
}): LoadBalancerCare {
  const { database, clock, catalog, edits } = deps;
  const find = (scope: Scope, id: string) =>
    foundById('Load balancer', id, () => findBalancer(database.sql, scope, id));
  async function shown(ids: readonly string[]): Promise<LoadBalancerStatus[]> {
    const byId = new Map<string, LoadBalancerStatus>();
    for await (const forest of forestsOf(database.sql, ids)) {
      for (const row of forest.balancers) byId.set(row.id, presentedStatus(row, forest));
    }
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  return {
    async status(scope, id) {
      const { id: known } = await find(scope, id);
      const [status] = await shown([known]);
      return foundById('Load balancer', id, async () => status);
    },

    statuses: async (scope) => shown(await idsOfAll(database.sql, scope)),

    async metrics(scope, id, question) {
      const { created_at } = await find(scope, id);
      return idleMetrics(question, created_at, clock.now());
    },

    resize: (scope, id, flavorId) =>
      edits.change(
        scope,
        RESIZE,
        async () => id,
        async (_tx, edit, balancer) => {
          const flavor = usableFlavor(catalog, scope.regionId, flavorId);
          if (flavor.flavor_id === balancer.flavor.flavor_id) {
            const message = `The load balancer already has flavor ${flavorId}; choose another one.`;
            throw new InvalidError({ flavor: [message] });
          }
          await edit.update('load_balancers', balancer, { flavor, flavor_named: true });
          return { data: { flavor: flavorId } };
        },
      ),

    failOver: (scope, id) =>
      edits.change(
        scope,
        FAIL_OVER,
        async () => id,
        async (_tx, edit, balancer) => {
          await edit.update('load_balancers', balancer, { failovers: balancer.failovers + 1 });
          return { data: {} };
        },
      ),
  };
}
