import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { ResetPassword } from './schema.ts';
import { resetPassword } from './service.ts';

export function passwordResetRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Logins'], access: 'public' });

  api.post('/tradewind/v1/password_reset', 'setForgottenPassword', 'Set a password with the token of a mail', {
    description:
      'The mail is sent by POST /iam/auth/password/forgot. The token works once, for two hours, and no longer once the user has another password or address. All logins of the user end; API tokens keep working.',
    body: ResetPassword,
    handler: ({ body }) => resetPassword(on, body),
  });
}
