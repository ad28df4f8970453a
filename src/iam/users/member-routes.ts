import { operations } from '../../http/operations.ts';
import { pathGuard } from '../../http/path-guard.ts';
import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { changeRoleOfMember, removeMember, requireMemberAccount, roleOfMember } from './members.ts';
import {
  ClientUser,
  ClientUserParams,
  CreateClientUser,
  CreatedClientUser,
  Done,
  UpdateClientUser,
} from './schema.ts';
import { createUserIn } from './service.ts';

const tags = ['Users'];
/** The name of an operation is not a user id, whatever the method. */
const ONE = '/iam/clients/:clientId/client-users/:userId(^(?!create$).*$)';

export function memberRoutes(app: Api, on: Platform): void {
  const onRequest = pathGuard(on, 'clientId', requireMemberAccount);

  const api = operations(app, { tags, params: ClientUserParams, onRequest });

  api.post('/iam/clients/:clientId/client-users/create', 'createClientUser', 'Create a user of an account', {
    access: 'resell',
    description:
      "The user can log in at once with the password in the request, but has to choose another one before joining somebody else's account. An address that somebody already logs in with is refused with 400: invite that user instead.",
    params: ClientParams,
    body: CreateClientUser,
    answer: CreatedClientUser,
    handler: async ({ principal, params, body }) => {
      const { id, name } = await createUserIn(on, principal, params.clientId, body);
      const role = { id, name };
      return { name: body.name ?? null, username: body.username, user_role: { ...role, user_role: role } };
    },
  });

  api.get(ONE, 'getClientUser', 'Get the role of a user in an account', {
    answer: ClientUser,
    handler: async ({ principal, params }) => {
      const { id, name } = await roleOfMember(on, principal, params.clientId, params.userId);
      return { user_role: { id, name } };
    },
  });

  api.put(ONE, 'updateClientUser', 'Change the role of a user in an account', {
    access: 'administer',
    description:
      'Takes effect on logins and API tokens at once; without a role nothing changes. The last administrator of an account cannot lose that role (409).',
    body: UpdateClientUser,
    handler: ({ principal, params, body }) =>
      changeRoleOfMember(on, principal, params.clientId, params.userId, body.user_role),
  });

  api.delete(ONE, 'removeClientUser', 'Remove a user from an account', {
    access: 'read',
    description:
      "For the account's administrators and its reseller; users may also leave on their own, with their own login. Also takes back an invitation. A user who belongs to no other account is deleted. Refused with 403 for a user with working API tokens, and with 409 for the last administrator.",
    answer: Done,
    handler: async ({ principal, params }) => {
      await removeMember(on, principal, params.clientId, params.userId);
      return {};
    },
  });
}
