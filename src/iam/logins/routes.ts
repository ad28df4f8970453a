import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '../../http/server.ts';
import type { Sender } from './password-check.ts';
import { passwordCommand } from './password-command.ts';
import {
  ChangePassword,
  ClientParams,
  ForgotPassword,
  LoginAttemptPage,
  LoginAttemptQuery,
  LoginRequest,
  RefreshRequest,
  Sent,
  TokenPair,
  UserParams,
} from './schema.ts';
import type { Logins } from './service.ts';

const tags = ['Logins'];
const JWT = '/iam/auth/jwt';

export function loginRoutes(app: Api, { logins }: { logins: Logins }): void {
  publicRoutes(app, logins);

  app.get(`${JWT}/clients/:clientId/login`, {
    config: { access: 'read', noted: true },
    schema: {
      operationId: 'loginToClient',
      summary: 'Log in to another account of the user',
      description:
        'The login has the role of the user there, and no more rights than the token that asks for it.',
      tags,
      params: ClientParams,
      response: { 200: TokenPair },
    },
    handler: async ({ principal, params }, reply) =>
      secret(reply, await logins.enter(principal, params.clientId)),
  });

  app.get(`${JWT}/clients/:clientId/admin_token`, {
    config: { access: 'resell', noted: true },
    schema: {
      operationId: 'loginAsAdministrator',
      summary: 'Log in as the administrator of a client',
      description: "The account's list of user actions shows it.",
      tags,
      params: ClientParams,
      response: { 200: TokenPair },
    },
    handler: async ({ principal, params }, reply) =>
      secret(reply, await logins.asAdministrator(principal, params.clientId)),
  });

  app.get(`${JWT}/users/:userId/token`, {
    config: { access: 'resell', noted: true },
    schema: {
      operationId: 'loginAsUser',
      summary: 'Log in as a user of a client',
      description: "The account's list of user actions shows it.",
      tags,
      params: UserParams,
      response: { 200: TokenPair },
    },
    handler: async ({ principal, params }, reply) =>
      secret(reply, await logins.asUser(principal, params.userId)),
  });

  app.put('/iam/users/:userId/password', {
    config: { access: 'read' },
    schema: {
      operationId: 'changePassword',
      summary: "Change the caller's own password",
      description: 'Ends all logins of the user but the one in the answer. API tokens stay.',
      tags,
      params: UserParams,
      body: ChangePassword,
      response: { 200: TokenPair },
    },
    handler: async (request, reply) => {
      const { principal, params, body } = request;
      return secret(reply, await logins.changePassword(principal, params.userId, body, senderOf(request)));
    },
  });

  app.get('/iam/activity_log/logins', {
    config: { access: 'administer' },
    schema: {
      operationId: 'listLoginAttempts',
      summary: 'List login attempts',
      description:
        "Newest first, of the last 90 days: those in the name of users whom the account made. The platform administrator sees those in nobody's name as well. What was refused because of too many failures is not listed.",
      tags,
      querystring: LoginAttemptQuery,
      response: { 200: LoginAttemptPage },
    },
    handler: ({ principal, query }) => logins.attempts(principal, query),
  });
}

/** Whoever calls these has no token yet. */
function publicRoutes(app: Api, logins: Logins): void {
  const open = { tags, security: [] };

  app.post(`${JWT}/login`, {
    config: { access: 'public' },
    schema: {
      ...open,
      operationId: 'login',
      summary: 'Log in',
      description:
        'After 5 wrong passwords of a user from one address or 25 from anywhere, or 100 of all users from one address, further ones are 429 for up to 15 minutes. The addresses of an IPv6 /64 count as one.',
      body: LoginRequest,
      response: { 200: TokenPair },
    },
    handler: async (request, reply) => secret(reply, await logins.login(request.body, senderOf(request))),
  });

  app.post(`${JWT}/refresh`, {
    config: { access: 'public' },
    schema: {
      ...open,
      operationId: 'refreshLogin',
      summary: 'Get the next pair of tokens',
      description:
        'A refresh token works once. One that comes a second time is 401 and ends the login with all that came from it.',
      body: RefreshRequest,
      response: { 200: TokenPair },
    },
    handler: async ({ body }, reply) => secret(reply, await logins.refresh(body.refresh)),
  });

  app.post('/iam/auth/password/forgot', {
    config: { access: 'public' },
    schema: {
      ...open,
      operationId: 'forgotPassword',
      summary: 'Say that a password is forgotten',
      description:
        'Notes it, and tells the log once an hour which user it is. Tradewind sends no mail: whoever operates it sets a new password with `tradewind user password`.',
      body: ForgotPassword,
      response: { 200: Sent },
    },
    handler: async ({ body, log }) => {
      const userId = await logins.passwordForgotten(body.email);
      if (userId !== undefined) {
        log.warn(
          { userId },
          `A user forgot their password; this sets a new one: ${passwordCommand(body.email)}`,
        );
      }
      return { status: 'sent' as const };
    },
  });
}

/** No cache may keep tokens. */
function secret(reply: FastifyReply, pair: TokenPair): TokenPair {
  void reply.header('cache-control', 'no-store');
  return pair;
}

function senderOf(request: FastifyRequest): Sender {
  return { address: request.ip, userAgent: request.headers['user-agent'] };
}
