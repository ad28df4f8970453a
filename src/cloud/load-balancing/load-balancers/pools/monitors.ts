import type { Transaction } from '../../../../db/database.ts';
import type { HealthMonitor } from '../../../../db/json-columns.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { changeTree, changeTreeNow } from '../tree/edits.ts';
import { balancerOf, findPart, presentedPart } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_MONITOR, UPDATE_MONITOR } from '../tree/tasks.ts';
import { lockedPool } from './locked.ts';
import { monitorOf } from './rules.ts';
import {
  type CreateHealthMonitor,
  type HealthMonitorAnswer,
  presentedPool,
  type UpdateHealthMonitor,
} from './schema.ts';

/*
 * Health monitors of pools. All refuse with NotFoundError for an unknown pool, changes with ConflictError while a task holds
 * the load balancer.
 */

/** @throws NotFoundError, also for a pool without one */
export async function getHealthMonitor(
  on: Platform,
  scope: Scope,
  poolId: string,
): Promise<HealthMonitorAnswer> {
  const row = await findPart(on.database.sql, scope, 'lb_pools', poolId);
  const { healthmonitor } = await presentedPart(on.database.sql, row, ({ pools }) => pools, presentedPool);
  if (!healthmonitor) throw noMonitor(poolId);
  return healthmonitor;
}

/** Returns the task that adds a monitor. @throws InvalidError, ConflictError if the pool has one */
export const addHealthMonitor = (
  on: Platform,
  scope: Scope,
  poolId: string,
  request: CreateHealthMonitor,
): Promise<string> =>
  changeTree(on, scope, CREATE_MONITOR, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    if (pool.health_monitor) {
      throw new ConflictError(
        `Pool ${pool.name} already has the health monitor ${pool.health_monitor.id}; change that one, or delete it first`,
      );
    }
    const problems: FieldProblem[] = [];
    const monitor = monitorOf(request, null, pool.protocol, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    tx.about({ type: 'lb_health_monitor', id: monitor.id, name: null });
    await edit.update('lb_pools', pool, { health_monitor: monitor });
    const created = { healthmonitors: [monitor.id] };
    return { data: { ...request, pool_id: pool.id }, created };
  });

/** Returns the task, which has finished already if nothing changes. @throws NotFoundError, also for a pool without one; InvalidError */
export const updateHealthMonitor = (
  on: Platform,
  scope: Scope,
  poolId: string,
  request: UpdateHealthMonitor,
): Promise<string> =>
  changeTree(on, scope, UPDATE_MONITOR, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const current = knownMonitor(tx, pool);
    const problems: FieldProblem[] = [];
    const monitor = monitorOf({ ...current, ...request }, current, pool.protocol, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    await edit.update('lb_pools', pool, { health_monitor: monitor });
    return { data: { ...request, pool_id: pool.id } };
  });

/** Removes the monitor at once. @throws NotFoundError, also for a pool without one */
export const removeHealthMonitor = (on: Platform, scope: Scope, poolId: string): Promise<void> =>
  changeTreeNow(on, scope, balancerOf(scope, 'lb_pools', poolId), async (tx) => {
    const pool = await lockedPool(tx, scope, poolId);
    knownMonitor(tx, pool);
    return { table: 'lb_pools', id: pool.id, values: { health_monitor: null } };
  });

/** Returns the monitor that a change is about. @throws NotFoundError */
function knownMonitor(tx: Transaction, pool: PartRow<'lb_pools'>): HealthMonitor {
  if (!pool.health_monitor) throw noMonitor(pool.id);
  tx.about({ type: 'lb_health_monitor', id: pool.health_monitor.id, name: null });
  return pool.health_monitor;
}

const noMonitor = (poolId: string) => new NotFoundError('Health monitor of pool', poolId);
