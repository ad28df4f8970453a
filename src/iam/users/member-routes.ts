import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import { passwordCommand } from '../logins/password-command.ts';
import type { Members } from './members.ts';
import { ClientUser, ClientUserParams, Done, Invited, InviteUser, UpdateClientUser } from './schema.ts';

const tags = ['Users'];
const ONE = '/iam/clients/:clientId/client-users/:userId';

export function memberRoutes(app: Api, { members }: { members: Members }): void {
  app.post('/iam/clients/invite_user', {
    config: { access: 'administer' },
    schema: {
      operationId: 'inviteUser',
      summary: 'Take a user into an account',
      description:
        "For the account's administrators and its reseller. Tradewind sends no mail: a new user can log in when whoever operates it has set a password with `tradewind user password`.",
      tags,
      body: InviteUser,
      response: { 200: Invited },
    },
    handler: async ({ principal, body, log }) => {
      const { userId, isNew } = await members.invite(principal, body);
      if (isNew) {
        log.warn({ userId }, `A new user has no password; this sets one: ${passwordCommand(body.email)}`);
      }
      return { status: 'sent' as const, user_id: userId };
    },
  });

  // Another account's users are refused before the body is read.
  const onRequest = async (request: FastifyRequest) => {
    const clientId = Number((request.params as { clientId: string }).clientId);
    if (Number.isSafeInteger(clientId)) await members.requireAccount(request.principal, clientId);
  };

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
        'Logins and API tokens follow at once. The last administrator of an account stays one (409).',
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
    config: { access: 'administer' },
    onRequest,
    schema: {
      operationId: 'removeClientUser',
      summary: 'Remove a user from an account',
      description:
        'A user who belongs to no other account is deleted. One with API tokens that work is 403, the last administrator 409.',
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
