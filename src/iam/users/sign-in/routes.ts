import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import * as signIn from './service.ts';

const POLICY = '/tradewind/v1/clients/:client_id/sign_in_policy';

export function signInRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Second factors'], access: 'administer', params: schema.PolicyParams });

  api.get(POLICY, 'getSignInPolicy', 'Get what an account requires to sign in', {
    access: 'read',
    answer: schema.SignInPolicy,
    handler: ({ principal, params }) => signIn.getSignInPolicy(on, principal, params.client_id),
  });

  api.put(POLICY, 'setSignInPolicy', 'Require a second factor', {
    refuses: [409],
    description:
      "For the account's administrators and its reseller. Users without a second factor add one when they next log in; until then the password gives them nothing else. Refused with 409 if it concerns the caller's own login and that has none.",
    body: schema.SetSignInPolicy,
    answer: schema.SignInPolicy,
    handler: ({ principal, params, body }) => signIn.setSignInPolicy(on, principal, params.client_id, body),
  });

  api.delete('/tradewind/v1/users/:user_id/second_factors', 'resetSecondFactors', "Remove a user's second factors", {
    description:
      'For a user who lost them: the password alone logs in again. Ends all logins of the user, who is told by mail. For those who may manage all accounts of the user.',
    params: schema.ResetParams,
    handler: ({ principal, params }) => signIn.resetSecondFactors(on, principal, params.user_id),
  });
}
