import type { ApiCommand } from '../api/api-command.ts';

const ROLE = {
  text: 'Administrators, Engineers, Users or the name of another role',
  value: 'ROLE',
};

export const users: readonly ApiCommand[] = [
  {
    name: 'user list',
    operation: 'listUsers',
    columns: { ID: 'id', EMAIL: 'email', NAME: 'name', ROLES: 'groups', ACTIVE: 'is_active' },
  },
  { name: 'user get', operation: 'getUser', arguments: ['userId'] },
  {
    name: 'user create',
    operation: 'createClientUser',
    summary: 'Create a user with a password',
    parts: { role: { ...ROLE, at: ['user_role', 'name'], default: 'Users' } },
    without: ['user_role'],
  },
  {
    name: 'user invite',
    operation: 'inviteUser',
    parts: {
      role: { ...ROLE, at: ['user_role', 'name'] },
      client: {
        at: ['client_id'],
        text: 'Client ID (that of the token)',
        value: 'ID',
        type: 'integer',
        ownClient: true,
      },
    },
    without: ['user_role', 'client_id'],
  },
  { name: 'user change', operation: 'updateUser', arguments: ['userId'] },
  { name: 'user role', operation: 'getClientUser', arguments: ['userId'] },
  {
    name: 'user set-role',
    operation: 'updateClientUser',
    arguments: ['userId'],
    parts: { role: { ...ROLE, at: ['user_role', 'name'] } },
    without: ['user_role'],
  },
  { name: 'user remove', operation: 'removeClientUser', arguments: ['userId'] },
  { name: 'user delete', operation: 'deleteUser', arguments: ['userId'] },
];
