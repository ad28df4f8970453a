import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { pageOf, presentedPage } from '../../lib/page.ts';
import { isoSeconds } from '../../lib/time.ts';
import type { Platform } from '../../platform.ts';
import { CLOUD_ROLES, scopeOfRole } from '../../requests/principal.ts';
import * as schema from './schema.ts';
import { assignRole, changeAssignment, listAssignments, listMembers, removeAssignment } from './service.ts';
import type { AssignmentRow } from './store.ts';

const BASE = '/cloud/v1/users';
const ASSIGNMENTS = `${BASE}/assignments`;

export function roleAssignmentRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Users'], params: schema.AssignmentParams });

  api.get(BASE, 'listAccountUsers', 'List the members of the account', {
    query: schema.AccountUserListQuery,
    answer: schema.AccountUserList,
    handler: ({ principal, query }) => listMembers(on, principal, query),
  });

  api.get(ASSIGNMENTS, 'listRoleAssignments', 'List role assignments', {
    description: 'Those of the account, or to the projects in which the caller has a role.',
    query: schema.AssignmentListQuery,
    answer: schema.AssignmentList,
    handler: async ({ principal, query }) => presentedPage(await listAssignments(on, principal, query), presented),
  });

  api.post(ASSIGNMENTS, 'createRoleAssignment', 'Assign a role to a user', {
    access: 'administer',
    description:
      "For the account's administrators, and in a project for its administrators. A user with roles in projects has these rights there and none elsewhere in the cloud, at once. Users without any assignment keep the rights of their group.",
    body: schema.AssignRole,
    answer: schema.Assignment,
    handler: async ({ principal, body }) => presented(await assignRole(on, principal, body)),
  });

  api.patch(`${ASSIGNMENTS}/:assignment_id`, 'updateRoleAssignment', 'Change a role assignment', {
    access: 'administer',
    description: 'Changes the role and the project. The user stays.',
    body: schema.AssignRole,
    answer: schema.AssignmentId,
    handler: async ({ principal, params, body }) => {
      await changeAssignment(on, principal, params.assignment_id, body);
      return params;
    },
  });

  api.delete(`${ASSIGNMENTS}/:assignment_id`, 'deleteRoleAssignment', 'Delete a role assignment', {
    access: 'administer',
    description: 'A user without another one has the rights of their group again.',
    answer: schema.AssignmentId,
    handler: async ({ principal, params }) => {
      await removeAssignment(on, principal, params.assignment_id);
      return params;
    },
  });

  api.get(`${BASE}/roles`, 'listAssignableRoles', 'List the roles that can be assigned', {
    deprecated: true,
    query: schema.RoleListQuery,
    answer: schema.RoleList,
    handler: ({ query }) => {
      const roles = CLOUD_ROLES.map((role) => ({ role, scope: scopeOfRole(role) }));
      const matching = query.project_id === undefined ? roles : roles.filter(({ scope }) => scope === 'Project');
      return pageOf(matching, {}, (role) => role);
    },
  });
}

const presented = (row: AssignmentRow) => ({
  ...row,
  created_at: isoSeconds(row.created_at),
  updated_at: row.updated_at && isoSeconds(row.updated_at),
});
