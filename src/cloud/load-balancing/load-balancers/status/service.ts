import { InvalidError } from '../../../../lib/errors.ts';
import { idleTimes, type MetricsQuestion } from '../../../../lib/idle-times.ts';
import { foundById } from '../../../../lib/ids.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { usableFlavor } from '../flavors/flavors.ts';
import { findBalancer, idsOfAll } from '../store.ts';
import { changeTree } from '../tree/edits.ts';
import { forestsOf } from '../tree/parts.ts';
import { FAIL_OVER, RESIZE } from '../tree/tasks.ts';
import { type LoadBalancerStatus, presentedStatus } from './schema.ts';

/**
 * Returns the load since the load balancer exists, oldest first. Nobody sends traffic through simulated
 * infrastructure, so it is idle; what is not known is null.
 */
export function idleMetrics(question: MetricsQuestion, createdAt: Date, now: Date) {
  return idleTimes(question, createdAt, now).map((time) => ({
    time,
    cpu_util: 0,
    memory_util: null,
    network_Bps_ingress: 0,
    network_Bps_egress: 0,
    network_pps_ingress: 0,
    network_pps_egress: 0,
  }));
}

const find = (on: Platform, scope: Scope, id: string) =>
  foundById('Load balancer', id, () => findBalancer(on.database.sql, scope, id));

async function shown(on: Platform, ids: readonly string[]): Promise<LoadBalancerStatus[]> {
  const byId = new Map<string, LoadBalancerStatus>();
  for await (const forest of forestsOf(on.database.sql, ids)) {
    for (const row of forest.balancers) byId.set(row.id, presentedStatus(row, forest));
  }
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** @throws NotFoundError */
export async function loadBalancerStatus(
  on: Platform,
  scope: Scope,
  id: string,
): Promise<LoadBalancerStatus> {
  const { id: known } = await find(on, scope, id);
  const [status] = await shown(on, [known]);
  return foundById('Load balancer', id, async () => status);
}

/** Newest first. */
export const loadBalancerStatuses = async (on: Platform, scope: Scope): Promise<LoadBalancerStatus[]> =>
  shown(on, await idsOfAll(on.database.sql, scope));

/** @throws NotFoundError */
export async function loadBalancerMetrics(
  on: Platform,
  scope: Scope,
  id: string,
  question: MetricsQuestion,
): Promise<ReturnType<typeof idleMetrics>> {
  const { created_at } = await find(on, scope, id);
  return idleMetrics(question, created_at, on.clock.now());
}

/** Returns the task that gives it another flavor. @throws NotFoundError, InvalidError, ForbiddenError, ConflictError */
export const resizeLoadBalancer = (
  on: Platform,
  scope: Scope,
  id: string,
  flavorId: string,
): Promise<string> =>
  changeTree(
    on,
    scope,
    RESIZE,
    async () => id,
    async (_tx, edit, balancer) => {
      const flavor = usableFlavor(on.catalog, scope.regionId, flavorId);
      if (flavor.flavor_id === balancer.flavor.flavor_id) {
        const message = `The load balancer already has flavor ${flavorId}; choose another one.`;
        throw new InvalidError({ flavor: [message] });
      }
      await edit.update('load_balancers', balancer, { flavor, flavor_named: true });
      return { data: { flavor: flavorId } };
    },
  );

/** Returns the task that replaces its machines. @throws NotFoundError, ConflictError while a task holds it */
export const failOverLoadBalancer = (on: Platform, scope: Scope, id: string): Promise<string> =>
  changeTree(
    on,
    scope,
    FAIL_OVER,
    async () => id,
    async (_tx, edit, balancer) => {
      await edit.update('load_balancers', balancer, { failovers: balancer.failovers + 1 });
      return { data: {} };
    },
  );
