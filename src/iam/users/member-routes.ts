import { Type } from 'typebox';
import { pathGuard } from '../../http/path-guard.ts';
import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Members } from './members.ts';
import {
  ClientUser,
  ClientUserParams,
  CreateClientUser,
  CreatedClientUser,
  Done,
  UpdateClientUser,
} from './schema.ts';
import type { Users } from './service.ts';

const tags = ['Users'];
/** The name of an operation is not a user id, whatever the method. */
const ONE = '/iam/clients/:clientId/client-users/:userId(^(?!create$).*$)';

export function memberRoutes(app: Api, { members, users }: { members: Members; users: Users }): void {
  const onRequest = pathGuard('clientId', members.requireAccount);

  app.post('/iam/clients/:clientId/client-users/create', {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'createClientUser',
      summary: 'Create a user of an account',
      description:
        "Who can log in at once, with the password of the request; they have to choose another one before they can join somebody else's account. An address that somebody logs in with is 400: invite them.",
      tags,
      params: ClientParams,
      body: CreateClientUser,
      response: { 200: CreatedClientUser },
    },
    handler: async ({ principal, params, body }) => {
      const { id, name } = await users.createIn(principal, params.clientId, body);
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
      const { id, name } = await members.roleIn(principal, params.clientId, params.userId);
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
        'Logins and API tokens follow at once; without a role nothing changes. The last administrator of an account stays one (409).',
      tags,
      params: ClientUserParams,
      body: UpdateClientUser,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params, body }, reply) => {
      await members.changeRole(principal, params.clientId, params.userId, body.user_role);
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
        "For the account's administrators and its reseller; users may leave by themselves, with a login of their own. It takes back an invitation, too. A user who belongs to no other account is deleted. One with API tokens that work is 403, the last administrator 409.",
      tags,
      params: ClientUserParams,
      response: { 200: Done },
    },
    handler: async ({ principal, params }) => {
      await members.remove(principal, params.clientId, params.userId);
      return {};
    },
  });
}
