import type { FastifyBaseLogger } from 'fastify';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { ClientParams, PageQuery, UserParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { formerAddress, passwordCommand, senderOf } from './passwords/service.ts';
import * as schema from './schema.ts';
import * as logins from './service.ts';

const tags = ['Logins'];
const JWT = '/iam/auth/jwt';

export function loginRoutes(app: Api, on: Platform): void {
  publicRoutes(app, on, on.smtp);
  // Whoever reported a forgotten password has been told that the user is mailed.
  app.addHook('onClose', () => on.passwordReports.end());

  const api = operations(app, { tags, params: ClientParams });

  api.get(`${JWT}/clients/:clientId/login`, 'loginToClient', 'Log in to another account of the user', {
    noted: true,
    secretAnswer: true,
    description: 'The login has the role of the user there, and no more rights than the token that asks for it.',
    answer: schema.TokenPair,
    handler: ({ principal, params }) => logins.enterAccount(on, principal, params.clientId),
  });

  api.get(`${JWT}/clients/:clientId/admin_token`, 'loginAsAdministrator', 'Log in as the administrator of a client', {
    access: 'resell',
    noted: true,
    secretAnswer: true,
    description: 'The login is recorded in GET /cloud/v1/request_log of the account.',
    answer: schema.TokenPair,
    handler: ({ principal, params }) => logins.logInAsAdministrator(on, principal, params.clientId),
  });

  api.get(`${JWT}/users/:userId/token`, 'loginAsUser', 'Log in as a user of a client', {
    access: 'resell',
    noted: true,
    secretAnswer: true,
    description: 'The login is recorded in GET /cloud/v1/request_log of the account.',
    params: UserParams,
    answer: schema.TokenPair,
    handler: ({ principal, params }) => logins.logInAsUser(on, principal, params.userId),
  });

  api.put('/iam/users/:userId/password', 'changePassword', "Change the caller's own password", {
    access: 'read',
    secretAnswer: true,
    description: 'Ends all logins of the user except the one in the answer. API tokens keep working.',
    params: UserParams,
    body: schema.ChangePassword,
    answer: schema.TokenPair,
    handler: (request) => {
      const { principal, params, body } = request;
      return logins.changePassword(on, principal, params.userId, body, senderOf(request));
    },
  });

  api.post('/iam/auth/reset_password', 'resetPassword', 'Ask for a new password for a user', {
    access: 'administer',
    description:
      "For users of the caller's account, or of the reseller's clients. Only the user may choose the password, so the answer has no link: the user gets it by mail, at most once an hour. If Tradewind sends no mail, the log names the user, and the operator of the platform sets a password with `tradewind user password`.",
    body: schema.ForgotPassword,
    answer: schema.Sent,
    handler: async ({ principal, body, log }) => {
      const user = await logins.mailPasswordReset(on, principal, body.email);
      const { userId, clientId } = principal;
      noteForgotten(
        log,
        on.smtp ? undefined : user,
        `User ${userId} of client ${clientId} asked for a new password for a user`,
      );
      return { status: 'sent' as const };
    },
  });

  api.get('/iam/activity_log/logins', 'listLoginAttempts', 'List login attempts', {
    access: 'administer',
    description:
      "Newest first, of the last 90 days: the caller's own attempts, and those of users who belong only to this account. The platform administrator also sees attempts with a name that no user has. Attempts that were refused because of too many failures are not listed.",
    query: PageQuery,
    answer: schema.LoginAttemptPage,
    handler: ({ principal, query }) => logins.listLoginAttempts(on, principal, query),
  });
}

/** Callers of these have no token yet. */
function publicRoutes(app: Api, on: Platform, smtp: boolean | undefined): void {
  const api = operations(app, { tags, access: 'public' });

  api.post(`${JWT}/login`, 'login', 'Log in', {
    secretAnswer: true,
    refuses: [401],
    description:
      'A user with a second factor sends a code as `one_time_password`, or gets 401 with a `challenge` for POST /tradewind/v1/logins/second_factor, and the `factors` that answer it. If the account requires a second factor that the user lacks, `enrol` is true. After 5 wrong passwords for a user from one address, 25 for a user from anywhere, or 100 for all users from one address, further attempts are refused with 429 for up to 15 minutes. For an address from which the user logged in within the last 90 days, only the limit of 5 applies. The addresses of an IPv6 /64 count as one.',
    body: schema.LoginRequest,
    answer: schema.TokenPair,
    handler: (request) => logins.logIn(on, request.body, senderOf(request)),
  });

  api.post(`${JWT}/refresh`, 'refreshLogin', 'Get the next pair of tokens', {
    secretAnswer: true,
    description:
      'A refresh token works once. Using it a second time is refused with 401 and ends the login with all its tokens.',
    body: schema.RefreshRequest,
    answer: schema.TokenPair,
    handler: ({ body }) => logins.refreshLogin(on, body.refresh),
  });

  api.post('/iam/auth/password/forgot', 'forgotPassword', 'Report a forgotten password', {
    description:
      'Mails the user a token for POST /tradewind/v1/password_reset, at most once an hour. The answer is the same for an address that nobody has. If Tradewind sends no mail, the log names the user, and its operator sets a new password with `tradewind user password`.',
    body: schema.ForgotPassword,
    answer: schema.Sent,
    handler: async ({ body, log }) => {
      await logins.reportForgottenPassword(on, body.email, {
        noted: (user) =>
          noteForgotten(log, smtp ? undefined : user, 'Somebody reported that a user forgot their password'),
        failed: (err) => log.error({ err }, 'A forgotten password was reported, but the user may not have been mailed'),
      });
      return { status: 'sent' as const };
    },
  });
}

/** Logs what the operator has to do. The address is the stored one, not what a stranger typed. */
function noteForgotten(log: FastifyBaseLogger, user: logins.Addressed | undefined, who: string): void {
  if (!user) return;
  const former = formerAddress(user);
  log.warn(
    { userId: user.id },
    `${who}; set a new one, and give it to nobody but the user: ${passwordCommand(user.email)}${former ? ` (${former})` : ''}`,
  );
}
