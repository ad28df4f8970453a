import type { Dialect } from '../../../../http/dialect.ts';
import { goneSignal } from '../../../../http/gone-signal.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { versionedIn } from '../../../../lib/versioned.ts';
import type { Platform } from '../../../../platform.ts';
import { whenFree } from '../../../ground/tasks/service.ts';
import { HELD } from '../schema.ts';
import { addHealthMonitor, getHealthMonitor, removeHealthMonitor, updateHealthMonitor } from './monitors.ts';
import { CreateHealthMonitor, HealthMonitorAnswer, PoolParams, UpdateHealthMonitor } from './schema.ts';

const MONITOR = '/cloud/v1/lbpools/:project_id/:region_id/:pool_id/healthmonitor';
/** A monitor is a part of its pool's row. */
const VERSIONED = versionedIn('lb_pools', 'pool_id');
const tags = ['Load balancers'];

export function healthMonitorRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: PoolParams });

  api.get(MONITOR, 'getHealthMonitor', 'Get the health monitor of a pool', {
    versioned: VERSIONED,
    description: 'Returns 404 for a pool without one.',
    answer: HealthMonitorAnswer,
    handler: ({ scope, params }) => getHealthMonitor(on, scope, params.pool_id),
  });

  api.post(MONITOR, 'createHealthMonitor', 'Create the health monitor of a pool', {
    description: `Returns 409 if the pool has one. ${HELD}`,
    body: CreateHealthMonitor,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await addHealthMonitor(on, scope, params.pool_id, body)]),
  });

  api.patch(MONITOR, 'updateHealthMonitor', 'Update the health monitor of a pool', {
    versioned: VERSIONED,
    description: `Fields that are left out stay; null clears those of HTTP. The type can't change. The task has finished already if nothing changes. Returns 404 for a pool without a monitor. ${HELD}`,
    body: UpdateHealthMonitor,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updateHealthMonitor(on, scope, params.pool_id, body)]),
  });

  api.delete(MONITOR, 'deleteHealthMonitor', 'Delete the health monitor of a pool', {
    description: `Takes effect immediately. From then on, all members get traffic. While a task holds the load balancer, it waits for up to 30 seconds; then it returns 409.`,
    handler: ({ scope, params }, reply) =>
      whenFree(on, { principal: scope.principal, gone: goneSignal(reply) }, () =>
        removeHealthMonitor(on, scope, params.pool_id),
      ),
  });
}
