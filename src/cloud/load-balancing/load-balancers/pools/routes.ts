import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
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
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(BASE, 'createPool', 'Create a pool of a load balancer', {
    description: `With listener_id, it becomes the default pool of the listener. Starts one task, whose created_resources have the pool in pools. ${HELD}`,
    body: CreatePool,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createPool(on, scope, body)]),
  });

  api.get(BASE, 'listPools', 'List pools of load balancers', {
    description: 'Newest first.',
    query: PoolListQuery,
    answer: PoolList,
    handler: ({ scope, query }) => listPools(on, scope, query),
  });

  api.get(ONE, 'getPool', 'Get a pool of a load balancer', {
    versioned: VERSIONED,
    params: PoolParams,
    answer: PoolAnswer,
    handler: ({ scope, params }) => getPool(on, scope, params.pool_id),
  });

  for (const { path, operationId, deprecated = false } of UPDATES) {
    api.patch(path, operationId, 'Update a pool of a load balancer', {
      versioned: VERSIONED,
      description: `Fields that are left out stay. Members, health monitor and session persistence are replaced as a whole; members with the same address and port are kept. The task has finished already if nothing changes. ${HELD}`,
      deprecated,
      params: PoolParams,
      body: UpdatePool,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) =>
        dialect.tasks([await updatePool(on, scope, params.pool_id, body)]),
    });
  }

  api.delete(ONE, 'deletePool', 'Delete a pool of a load balancer', {
    description: `Listeners are left without a default pool. Returns 409 while an L7 policy sends requests to it. ${WAITS}`,
    params: PoolParams,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, poolDeletion, params.pool_id)]),
  });
}
