import { Type } from 'typebox';
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

  app.post('/iam/clients/:clientId/client-users/create', {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'createClientUser',
      summary: 'Create a user of an account',
      description:
        "The user can log in at once with the password in the request, but has to choose another one before joining somebody else's account. An address that somebody already logs in with is refused with 400: invite that user instead.",
      tags,
      params: ClientParams,
      body: CreateClientUser,
      response: { 200: CreatedClientUser },
    },
    handler: async ({ principal, params, body }) => {
      const { id, name } = await createUserIn(on, principal, params.clientId, body);
      const role = { id, name };
      return { name: body.name ?? null, username: body.username, user_role: { ...role, user_role: role } };
    },
  });

  app.get(ONE, {
    config: { access: 'read' },
    onRequest,
    schema: {
      operationId: 'getClientUser',
      summary: 'Get the role of a user in an account',
      tags,
      params: ClientUserParams,
      response: { 200: ClientUser },
    },
    handler: async ({ principal, params }) => {
      const { id, name } = await roleOfMember(on, principal, params.clientId, params.userId);
      return { user_role: { id, name } };
    },
  });

  app.put(ONE, {
    config: { access: 'administer' },
    onRequest,
    schema: {
      operationId: 'updateClientUser',
      summary: 'Change the role of a user in an account',
      description:
        'Takes effect on logins and API tokens at once; without a role nothing changes. The last administrator of an account cannot lose that role (409).',
      tags,
      params: ClientUserParams,
      body: UpdateClientUser,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params, body }, reply) => {
      await changeRoleOfMember(on, principal, params.clientId, params.userId, body.user_role);
      return reply.code(204).send(null);
    },
  });

  app.delete(ONE, {
    config: { access: 'read' },
    onRequest,
    schema: {
      operationId: 'removeClientUser',
      summary: 'Remove a user from an account',
      description:
        "For the account's administrators and its reseller; users may also leave on their own, with their own login. Also takes back an invitation. A user who belongs to no other account is deleted. Refused with 403 for a user with working API tokens, and with 409 for the last administrator.",
      tags,
      params: ClientUserParams,
      response: { 200: Done },
    },
    handler: async ({ principal, params }) => {
      await removeMember(on, principal, params.clientId, params.userId);
      return {};
    },
  });
}
