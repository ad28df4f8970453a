import { Type } from 'typebox';
import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import type { HealthMonitors } from './monitors.ts';
import { CreateHealthMonitor, HealthMonitorAnswer, PoolParams, UpdateHealthMonitor } from './schema.ts';

const MONITOR = '/cloud/v1/lbpools/:project_id/:region_id/:pool_id/healthmonitor';
/** A monitor is a part of its pool's row. */
const VERSIONED = versionedIn('lb_pools', 'pool_id');
const tags = ['Load balancers'];
const HELD = 'Returns 409 while a task holds the load balancer.';

export function healthMonitorRoutes(
  app: Api,
  dialect: Dialect,
  { healthMonitors: monitors }: { healthMonitors: HealthMonitors },
): void {
  const started = (task: string | undefined) => dialect.tasks(task === undefined ? [] : [task]);

  app.get(MONITOR, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getHealthMonitor',
      summary: 'Get the health monitor of a pool',
      description: 'Returns 404 for a pool without one.',
      tags,
      params: PoolParams,
      response: { 200: HealthMonitorAnswer },
    },
    handler: async ({ scope, params }) => monitors.get(scope, params.pool_id),
  });

  app.post(MONITOR, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createHealthMonitor',
      summary: 'Create the health monitor of a pool',
      description: `Returns 409 if the pool has one. ${HELD}`,
      tags,
      params: PoolParams,
      body: CreateHealthMonitor,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => started(await monitors.add(scope, params.pool_id, body)),
  });

  app.patch(MONITOR, {
    config: { access: 'operate', versioned: VERSIONED },
    schema: {
      operationId: 'updateHealthMonitor',
      summary: 'Update the health monitor of a pool',
      description: `Fields that are left out stay; null clears those of HTTP. The type can't change. Returns no task if nothing changes, and 404 for a pool without a monitor. ${HELD}`,
      tags,
      params: PoolParams,
      body: UpdateHealthMonitor,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => started(await monitors.update(scope, params.pool_id, body)),
  });

  app.delete(MONITOR, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteHealthMonitor',
      summary: 'Delete the health monitor of a pool',
      description: `Takes effect immediately. From then on, all members get traffic. ${HELD}`,
      tags,
      params: PoolParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ scope, params }, reply) => {
      await monitors.remove(scope, params.pool_id);
      return reply.code(204).send(null);
    },
  });
}
