import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
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
  const api = operations(app, { tags, params: PoolParams });

  api.get(MEMBERS, 'listPoolMembers', 'List the members of a pool', {
    query: MemberListQuery,
    answer: MemberList,
    handler: ({ scope, params, query }) => listPoolMembers(on, scope, params.pool_id, query),
  });

  for (const { path, operationId } of CREATIONS) {
    api.post(path, operationId, 'Add a member to a pool', {
      description: `Returns 409 if the pool has a member with this address and port, and if it or the load balancer has as many members as it may have. ${HELD}`,
      body: CreateMember,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) =>
        dialect.tasks([await addPoolMember(on, scope, params.pool_id, body)]),
    });
  }

  api.put(MEMBERS, 'replacePoolMembers', 'Replace all members of a pool', {
    description: `Members with the same address and port are kept and get the other values; an empty list removes all. The task has finished already if nothing changes. ${HELD}`,
    body: ReplaceMembers,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await replacePoolMembers(on, scope, params.pool_id, body)]),
  });

  api.get(MEMBER, 'getPoolMember', 'Get a member of a pool', {
    versioned: VERSIONED,
    params: MemberParams,
    answer: MemberAnswer,
    handler: ({ scope, params }) => getPoolMember(on, scope, params.pool_id, params.member_id),
  });

  api.patch(MEMBER, 'updatePoolMember', 'Update a member of a pool', {
    versioned: VERSIONED,
    description: `Fields that are left out stay; null clears what the monitor asks instead. Address, port and subnet can't change. The task has finished already if nothing changes. ${HELD}`,
    params: MemberParams,
    body: UpdateMember,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updatePoolMember(on, scope, params.pool_id, params.member_id, body)]),
  });

  for (const { path, operationId } of DELETIONS) {
    api.delete(path, operationId, 'Remove a member from a pool', {
      description: WAITS,
      params: MemberParams,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params }) =>
        dialect.tasks([await deleteOrWait(on, scope, poolMemberDeletion, params.pool_id, params.member_id)]),
    });
  }
}
