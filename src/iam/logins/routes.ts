import type { FastifyBaseLogger } from 'fastify';
import type { Api } from '../../http/server.ts';
import { ClientParams, PageQuery, UserParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { formerAddress, passwordCommand, senderOf } from './passwords/service.ts';
import {
  ChangePassword,
  ForgotPassword,
  LoginAttemptPage,
  LoginRequest,
  RefreshRequest,
  Sent,
  TokenPair,
} from './schema.ts';
import type { Addressed } from './service.ts';
import {
  changePassword,
  enterAccount,
  listLoginAttempts,
  logIn,
  logInAsAdministrator,
  logInAsUser,
  mailPasswordReset,
  refreshLogin,
  reportForgottenPassword,
} from './service.ts';

const tags = ['Logins'];
const JWT = '/iam/auth/jwt';

export function loginRoutes(app: Api, on: Platform): void {
  publicRoutes(app, on, on.smtp);
  // Whoever reported a forgotten password has been told that the user is mailed.
  app.addHook('onClose', () => on.passwordReports.end());

  app.get(`${JWT}/clients/:clientId/login`, {
    config: { access: 'read', noted: true, secretAnswer: true },
    schema: {
      operationId: 'loginToClient',
      summary: 'Log in to another account of the user',
      description:
        'The login has the role of the user there, and no more rights than the token that asks for it.',
      tags,
      params: ClientParams,
      response: { 200: TokenPair },
    },
    handler: ({ principal, params }) => enterAccount(on, principal, params.clientId),
  });

  app.get(`${JWT}/clients/:clientId/admin_token`, {
    config: { access: 'resell', noted: true, secretAnswer: true },
    schema: {
      operationId: 'loginAsAdministrator',
      summary: 'Log in as the administrator of a client',
      description: 'The login is recorded in GET /cloud/v1/request_log of the account.',
      tags,
      params: ClientParams,
      response: { 200: TokenPair },
    },
    handler: ({ principal, params }) => logInAsAdministrator(on, principal, params.clientId),
  });

  app.get(`${JWT}/users/:userId/token`, {
    config: { access: 'resell', noted: true, secretAnswer: true },
    schema: {
      operationId: 'loginAsUser',
      summary: 'Log in as a user of a client',
      description: 'The login is recorded in GET /cloud/v1/request_log of the account.',
      tags,
      params: UserParams,
      response: { 200: TokenPair },
    },
    handler: ({ principal, params }) => logInAsUser(on, principal, params.userId),
  });

  app.put('/iam/users/:userId/password', {
    config: { access: 'read', secretAnswer: true },
    schema: {
      operationId: 'changePassword',
      summary: "Change the caller's own password",
      description: 'Ends all logins of the user except the one in the answer. API tokens keep working.',
      tags,
      params: UserParams,
      body: ChangePassword,
      response: { 200: TokenPair },
    },
    handler: (request) => {
      const { principal, params, body } = request;
      return changePassword(on, principal, params.userId, body, senderOf(request));
    },
  });

  app.post('/iam/auth/reset_password', {
    config: { access: 'administer' },
    schema: {
      operationId: 'resetPassword',
      summary: 'Ask for a new password for a user',
      description:
        "For users of the caller's account, or of the reseller's clients. Only the user may choose the password, so the answer has no link: the user gets it by mail, at most once an hour. If Tradewind sends no mail, the log names the user, and the operator of the platform sets a password with `tradewind user password`.",
      tags,
      body: ForgotPassword,
      response: { 200: Sent },
    },
    handler: async ({ principal, body, log }) => {
      const user = await mailPasswordReset(on, principal, body.email);
      const { userId, clientId } = principal;
      noteForgotten(
        log,
        on.smtp ? undefined : user,
        `User ${userId} of client ${clientId} asked for a new password for a user`,
      );
      return { status: 'sent' as const };
    },
  });

  app.get('/iam/activity_log/logins', {
    config: { access: 'administer' },
    schema: {
      operationId: 'listLoginAttempts',
      summary: 'List login attempts',
      description:
        "Newest first, of the last 90 days: the caller's own attempts, and those of users who belong only to this account. The platform administrator also sees attempts with a name that no user has. Attempts that were refused because of too many failures are not listed.",
      tags,
      querystring: PageQuery,
      response: { 200: LoginAttemptPage },
    },
    handler: ({ principal, query }) => listLoginAttempts(on, principal, query),
  });
}

/** Callers of these have no token yet. */
function publicRoutes(app: Api, on: Platform, smtp: boolean | undefined): void {
  const open = { tags, security: [] };

  app.post(`${JWT}/login`, {
    config: { access: 'public', secretAnswer: true },
    schema: {
      ...open,
      operationId: 'login',
      summary: 'Log in',
      description:
        'After 5 wrong passwords for a user from one address, 25 for a user from anywhere, or 100 for all users from one address, further attempts are refused with 429 for up to 15 minutes. For an address from which the user logged in within the last 90 days, only the limit of 5 applies. The addresses of an IPv6 /64 count as one.',
      body: LoginRequest,
      response: { 200: TokenPair },
    },
    handler: (request) => logIn(on, request.body, senderOf(request)),
  });

  app.post(`${JWT}/refresh`, {
    config: { access: 'public', secretAnswer: true },
    schema: {
      ...open,
      operationId: 'refreshLogin',
      summary: 'Get the next pair of tokens',
      description:
        'A refresh token works once. Using it a second time is refused with 401 and ends the login with all its tokens.',
      body: RefreshRequest,
      response: { 200: TokenPair },
    },
    handler: ({ body }) => refreshLogin(on, body.refresh),
  });

  app.post('/iam/auth/password/forgot', {
    config: { access: 'public' },
    schema: {
      ...open,
      operationId: 'forgotPassword',
      summary: 'Report a forgotten password',
      description:
        'Mails the user a token for POST /tradewind/v1/password_reset, at most once an hour. The answer is the same for an address that nobody has. If Tradewind sends no mail, the log names the user, and its operator sets a new password with `tradewind user password`.',
      body: ForgotPassword,
      response: { 200: Sent },
    },
    handler: async ({ body, log }) => {
      await reportForgottenPassword(on, body.email, {
        noted: (user) =>
          noteForgotten(log, smtp ? undefined : user, 'Somebody reported that a user forgot their password'),
        failed: (err) =>
          log.error({ err }, 'A forgotten password was reported, but the user may not have been mailed'),
      });
      return { status: 'sent' as const };
    },
  });
}

/** Logs what the operator has to do. The address is the stored one, not what a stranger typed. */
function noteForgotten(log: FastifyBaseLogger, user: Addressed | undefined, who: string): void {
  if (!user) return;
  const former = formerAddress(user);
  log.warn(
    { userId: user.id },
    `${who}; set a new one, and give it to nobody but the user: ${passwordCommand(user.email)}${former ? ` (${former})` : ''}`,
  );
}
