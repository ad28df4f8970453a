import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import { versionedIn } from '../../../../lib/versioned.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { HELD, WAITS } from '../schema.ts';
import {
  addPoolMember,
  getPoolMember,
  listPoolMembers,
  poolMemberDeletion,
  replacePoolMembers,
  updatePoolMember,
} from './members.ts';
import {
  CreateMember,
  MemberAnswer,
  MemberList,
  MemberListQuery,
  MemberParams,
  PoolParams,
  ReplaceMembers,
  UpdateMember,
} from './schema.ts';

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
const VERSIONED = versionedIn('lb_members', 'member_id');
const tags = ['Load balancers'];

export function lbMemberRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.get(MEMBERS, {
    config: { access: 'read' },
    schema: {
      operationId: 'listPoolMembers',
      summary: 'List the members of a pool',
      tags,
      params: PoolParams,
      querystring: MemberListQuery,
      response: { 200: MemberList },
    },
    handler: async ({ scope, params, query }) => listPoolMembers(on, scope, params.pool_id, query),
  });

  for (const { path, ...which } of CREATIONS) {
    app.post(path, {
      config: { access: 'operate' },
      schema: {
        ...which,
        summary: 'Add a member to a pool',
        description: `Returns 409 if the pool has a member with this address and port, and if it or the load balancer has as many members as it may have. ${HELD}`,
        tags,
        params: PoolParams,
        body: CreateMember,
        response: { 200: dialect.tasksSchema },
      },
      handler: async ({ scope, params, body }) =>
        dialect.tasks([await addPoolMember(on, scope, params.pool_id, body)]),
    });
  }

  app.put(MEMBERS, {
    config: { access: 'operate' },
    schema: {
      operationId: 'replacePoolMembers',
      summary: 'Replace all members of a pool',
      description: `Members with the same address and port are kept and get the other values; an empty list removes all. The task has finished already if nothing changes. ${HELD}`,
      tags,
      params: PoolParams,
      body: ReplaceMembers,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await replacePoolMembers(on, scope, params.pool_id, body)]),
  });

  app.get(MEMBER, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getPoolMember',
      summary: 'Get a member of a pool',
      tags,
      params: MemberParams,
      response: { 200: MemberAnswer },
    },
    handler: async ({ scope, params }) => getPoolMember(on, scope, params.pool_id, params.member_id),
  });

  app.patch(MEMBER, {
    config: { access: 'operate', versioned: VERSIONED },
    schema: {
      operationId: 'updatePoolMember',
      summary: 'Update a member of a pool',
      description: `Fields that are left out stay; null clears what the monitor asks instead. Address, port and subnet can't change. The task has finished already if nothing changes. ${HELD}`,
      tags,
      params: MemberParams,
      body: UpdateMember,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updatePoolMember(on, scope, params.pool_id, params.member_id, body)]),
  });

  for (const { path, ...which } of DELETIONS) {
    app.delete(path, {
      config: { access: 'operate' },
      schema: {
        ...which,
        summary: 'Remove a member from a pool',
        description: WAITS,
        tags,
        params: MemberParams,
        response: { 200: dialect.tasksSchema },
      },
      handler: async ({ scope, params }) =>
        dialect.tasks([await deleteOrWait(on, scope, poolMemberDeletion, params.pool_id, params.member_id)]),
    });
  }
}
