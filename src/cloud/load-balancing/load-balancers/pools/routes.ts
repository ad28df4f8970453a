import type { Dialect } from '../../../../http/dialect.ts';
import { goneSignal } from '../../../../http/gone-signal.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { versioned } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { whenFree } from '../../../ground/tasks/service.ts';
import { HELD, WAITS } from '../schema.ts';
import * as members from './members.ts';
import * as schema from './schema.ts';
import { createPool, getPool, listPools, poolDeletion, updatePool } from './service.ts';

const BASE = '/cloud/v1/lbpools/:project_id/:region_id';
const ONE = `${BASE}/:pool_id`;
const VERSIONED = versioned('lbpool');
const tags = ['Load balancers'];
/** Both do the same. */
const UPDATES = [
  { path: ONE, operationId: 'updatePoolV1', deprecated: true },
  { path: '/cloud/v2/lbpools/:project_id/:region_id/:pool_id', operationId: 'updatePool' },
];

export function lbPoolRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(BASE, 'createPool', 'Create a pool of a load balancer', {
    description: `With listener_id, it becomes the default pool of the listener. Starts one task, whose created_resources have the pool in pools. ${HELD}`,
    body: schema.CreatePool,
    task: ({ scope, body }) => createPool(on, scope, body),
  });

  api.get(BASE, 'listPools', 'List pools of load balancers', {
    description: 'Newest first.',
    query: schema.PoolListQuery,
    answer: schema.PoolList,
    handler: ({ scope, query }) => listPools(on, scope, query),
  });

  api.get(ONE, 'getPool', 'Get a pool of a load balancer', {
    versioned: VERSIONED,
    params: schema.PoolParams,
    answer: schema.PoolAnswer,
    handler: ({ scope, params }) => getPool(on, scope, params.pool_id),
  });

  for (const { path, operationId, deprecated = false } of UPDATES) {
    api.patch(path, operationId, 'Update a pool of a load balancer', {
      versioned: VERSIONED,
      description: `Fields that are left out stay. Members, health monitor and session persistence are replaced as a whole; members with the same address and port are kept. The task has finished already if nothing changes. ${HELD}`,
      deprecated,
      params: schema.PoolParams,
      body: schema.UpdatePool,
      task: ({ scope, params, body }) => updatePool(on, scope, params.pool_id, body),
    });
  }

  api.delete(ONE, 'deletePool', 'Delete a pool of a load balancer', {
    description: `Listeners are left without a default pool. Returns 409 while an L7 policy sends requests to it. ${WAITS}`,
    params: schema.PoolParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, poolDeletion, params.pool_id),
  });
}

const MEMBERS = '/cloud/v1/loadbalancers/:project_id/:region_id/pools/:pool_id/members';
const MEMBER = `${MEMBERS}/:member_id`;
/** Where the published contract has them. */
const OLDER = '/cloud/v1/lbpools/:project_id/:region_id/:pool_id/member';
const CREATIONS = [
  { path: MEMBERS, operationId: 'createPoolMember' },
  { path: OLDER, operationId: 'createLbPoolMember' },
];
const DELETIONS = [
  { path: MEMBER, operationId: 'deletePoolMember' },
  { path: `${OLDER}/:member_id`, operationId: 'deleteLbPoolMember' },
];
const MEMBER_VERSIONED = versioned('lbpool_member');

export function lbMemberRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.PoolParams });

  api.get(MEMBERS, 'listPoolMembers', 'List the members of a pool', {
    query: schema.MemberListQuery,
    answer: schema.MemberList,
    handler: ({ scope, params, query }) => members.listPoolMembers(on, scope, params.pool_id, query),
  });

  for (const { path, operationId } of CREATIONS) {
    api.post(path, operationId, 'Add a member to a pool', {
      description: `Returns 409 if the pool has a member with this address and port, and if it or the load balancer has as many members as it may have. ${HELD}`,
      body: schema.CreateMember,
      task: ({ scope, params, body }) => members.addPoolMember(on, scope, params.pool_id, body),
    });
  }

  api.put(MEMBERS, 'replacePoolMembers', 'Replace all members of a pool', {
    description: `Members with the same address and port are kept and get the other values; an empty list removes all. The task has finished already if nothing changes. ${HELD}`,
    body: schema.ReplaceMembers,
    task: ({ scope, params, body }) => members.replacePoolMembers(on, scope, params.pool_id, body),
  });

  api.get(MEMBER, 'getPoolMember', 'Get a member of a pool', {
    versioned: MEMBER_VERSIONED,
    params: schema.MemberParams,
    answer: schema.MemberAnswer,
    handler: ({ scope, params }) => members.getPoolMember(on, scope, params.pool_id, params.member_id),
  });

  api.patch(MEMBER, 'updatePoolMember', 'Update a member of a pool', {
    versioned: MEMBER_VERSIONED,
    description: `Fields that are left out stay; null clears what the monitor asks instead. Address, port and subnet can't change. The task has finished already if nothing changes. ${HELD}`,
    params: schema.MemberParams,
    body: schema.UpdateMember,
    task: ({ scope, params, body }) => members.updatePoolMember(on, scope, params.pool_id, params.member_id, body),
  });

  for (const { path, operationId } of DELETIONS) {
    api.delete(path, operationId, 'Remove a member from a pool', {
      description: WAITS,
      params: schema.MemberParams,
      task: ({ scope, params }) =>
        deleteOrWait(on, scope, members.poolMemberDeletion, params.pool_id, params.member_id),
    });
  }
}

const MONITOR = '/cloud/v1/lbpools/:project_id/:region_id/:pool_id/healthmonitor';

export function healthMonitorRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.PoolParams });

  api.get(MONITOR, 'getHealthMonitor', 'Get the health monitor of a pool', {
    versioned: VERSIONED,
    description: 'Returns 404 for a pool without one.',
    answer: schema.HealthMonitorAnswer,
    handler: ({ scope, params }) => members.getHealthMonitor(on, scope, params.pool_id),
  });

  api.post(MONITOR, 'createHealthMonitor', 'Create the health monitor of a pool', {
    description: `Returns 409 if the pool has one. ${HELD}`,
    body: schema.CreateHealthMonitor,
    task: ({ scope, params, body }) => members.addHealthMonitor(on, scope, params.pool_id, body),
  });

  api.patch(MONITOR, 'updateHealthMonitor', 'Update the health monitor of a pool', {
    versioned: VERSIONED,
    description: `Fields that are left out stay; null clears those of HTTP. The type can't change. The task has finished already if nothing changes. Returns 404 for a pool without a monitor. ${HELD}`,
    body: schema.UpdateHealthMonitor,
    task: ({ scope, params, body }) => members.updateHealthMonitor(on, scope, params.pool_id, body),
  });

  api.delete(MONITOR, 'deleteHealthMonitor', 'Delete the health monitor of a pool', {
    description: `Takes effect immediately. From then on, all members get traffic. While a task holds the load balancer, it waits for up to 30 seconds; then it returns 409.`,
    handler: ({ scope, params }, reply) =>
      whenFree(on, { principal: scope.principal, gone: () => goneSignal(reply) }, () =>
        members.removeHealthMonitor(on, scope, params.pool_id),
      ),
  });
}
