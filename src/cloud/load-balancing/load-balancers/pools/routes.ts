import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import { versionedIn } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { HELD, WAITS } from '../schema.ts';
import { CreatePool, PoolAnswer, PoolList, PoolListQuery, PoolParams, UpdatePool } from './schema.ts';
import { createPool, getPool, listPools, poolDeletion, updatePool } from './service.ts';

const BASE = '/cloud/v1/lbpools/:project_id/:region_id';
const ONE = `${BASE}/:pool_id`;
const VERSIONED = versionedIn('lb_pools', 'pool_id');
const tags = ['Load balancers'];
/** Both do the same. */
const UPDATES = [
  { path: ONE, operationId: 'updatePoolV1', deprecated: true },
  { path: '/cloud/v2/lbpools/:project_id/:region_id/:pool_id', operationId: 'updatePool' },
];

export function lbPoolRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createPool',
      summary: 'Create a pool of a load balancer',
      description: `With listener_id, it becomes the default pool of the listener. Starts one task, whose created_resources have the pool in pools. ${HELD}`,
      tags,
      params: ProjectRegionParams,
      body: CreatePool,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createPool(on, scope, body)]),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listPools',
      summary: 'List pools of load balancers',
      description: 'Newest first.',
      tags,
      params: ProjectRegionParams,
      querystring: PoolListQuery,
      response: { 200: PoolList },
    },
    handler: async ({ scope, query }) => listPools(on, scope, query),
  });

  app.get(ONE, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getPool',
      summary: 'Get a pool of a load balancer',
      tags,
      params: PoolParams,
      response: { 200: PoolAnswer },
    },
    handler: async ({ scope, params }) => getPool(on, scope, params.pool_id),
  });

  for (const { path, ...which } of UPDATES) {
    app.patch(path, {
      config: { access: 'operate', versioned: VERSIONED },
      schema: {
        ...which,
        summary: 'Update a pool of a load balancer',
        description: `Fields that are left out stay. Members, health monitor and session persistence are replaced as a whole; members with the same address and port are kept. The task has finished already if nothing changes. ${HELD}`,
        tags,
        params: PoolParams,
        body: UpdatePool,
        response: { 200: dialect.tasksSchema },
      },
      handler: async ({ scope, params, body }) =>
        dialect.tasks([await updatePool(on, scope, params.pool_id, body)]),
    });
  }

  app.delete(ONE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deletePool',
      summary: 'Delete a pool of a load balancer',
      description: `Listeners are left without a default pool. Returns 409 while an L7 policy sends requests to it. ${WAITS}`,
      tags,
      params: PoolParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, poolDeletion, params.pool_id)]),
  });
}
