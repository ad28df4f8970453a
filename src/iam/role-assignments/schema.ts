import { type Static, Type } from 'typebox';
import * as wire from '../../lib/wire.ts';
import { CLOUD_ROLES } from '../../requests/principal.ts';

const Role = wire.Choice(CLOUD_ROLES, {
  description:
    'ClientAdministrator is for the whole account, the others are for projects. InternalNetworkOnlyUser may do what User may, but take no public addresses',
  examples: ['Observer'],
});

export const AssignRole = wire.Input(
  'AssignRole',
  {
    user_id: wire.IntegerId('User ID'),
    client_id: Type.Optional(wire.nullable(wire.IntegerId("Client ID; the caller's account if it is left out"))),
    project_id: Type.Optional(wire.nullable(wire.IntegerId('Project ID; null for the whole account'))),
    role: Role,
  },
  { user_id: 777, client_id: 1, project_id: 1, role: 'Observer' },
);
export type AssignRole = Static<typeof AssignRole>;

export const Assignment = wire.Named('RoleAssignment', {
  id: Type.Integer({ description: 'Assignment ID', examples: [12] }),
  user_id: Type.Integer({ description: 'User ID', examples: [123] }),
  role: Role,
  client_id: Type.Integer({ description: 'Client ID', examples: [1] }),
  project_id: wire.IntegerOrNull({ description: 'Project ID; null for the whole account', examples: [1] }),
  assigned_by: wire.IntegerOrNull({ description: 'User who assigned the role', examples: [1] }),
  created_at: wire.Timestamp(),
  updated_at: wire.nullable(wire.Timestamp()),
});
export const AssignmentList = wire.listOf(Assignment, 'RoleAssignmentList');
export const AssignmentId = wire.Named('RoleAssignmentId', {
  assignment_id: Type.Integer({ description: 'Assignment ID', examples: [12] }),
});
export const AssignmentParams = Type.Object({ assignment_id: wire.IntegerId('Assignment ID') });

export const AssignmentListQuery = wire.Query({
  ...wire.listQuery(),
  project_id: Type.Optional(wire.IntegerId('Only assignments to this project')),
  user_id: Type.Optional(wire.IntegerId('Only assignments of this user')),
});
export type AssignmentListQuery = Static<typeof AssignmentListQuery>;

export const AccountUserListQuery = wire.Query({
  ...wire.listQuery(),
  user_id: Type.Optional(wire.IntegerId('Only this user')),
});
export type AccountUserListQuery = Static<typeof AccountUserListQuery>;

export const AccountUserList = wire.listOf(
  wire.Named('AccountUser', {
    id: Type.Integer({ description: 'User ID', examples: [123] }),
    name: Type.String({ description: 'Name; the address of a user without a name', examples: ['John'] }),
    email: Type.String({ examples: ['john@example.com'] }),
    activated: Type.Boolean({ description: 'Whether the user may log in' }),
    is_admin: Type.Boolean({ description: 'Whether the user is an administrator of the account' }),
  }),
  'AccountUserList',
);

export const RoleListQuery = wire.Query({
  project_id: Type.Optional(wire.IntegerId('Only roles that can be assigned in a project')),
});
export const RoleList = wire.listOf(
  wire.Named('AssignableRole', {
    role: Role,
    scope: wire.Choice(['Client', 'Project'], 'Where it can be assigned'),
  }),
  'AssignableRoleList',
);
