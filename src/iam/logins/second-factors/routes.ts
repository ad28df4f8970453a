import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { senderOf } from '../passwords/service.ts';
import * as schema from './schema.ts';
import * as factors from './service.ts';

const tags = ['Second factors'];
const OWN = '/tradewind/v1/second_factors';
const LOGIN = '/tradewind/v1/logins/second_factor';
const AGAIN = 'Needs the password once more, or a new code of the app.';

export function secondFactorRoutes(app: Api, on: Platform): void {
  loginRoutes(app, on);
  const api = operations(app, { tags, access: 'read', params: schema.FactorParams });

  api.get(OWN, 'listSecondFactors', "List the caller's second factors", {
    description: 'Only for the user in person, like all operations here: no API token, and nobody in their name.',
    answer: schema.SecondFactorList,
    handler: ({ principal }) => factors.listSecondFactors(on, principal),
  });

  api.post(`${OWN}/totp`, 'setUpTotp', 'Set up an app that makes codes', {
    secretAnswer: true,
    status: 201,
    description: `Answers the secret for the app. It is no second factor until \`confirmTotp\` gets a code of the app. ${AGAIN}`,
    body: schema.NewTotp,
    answer: schema.Totp,
    handler: (request) => factors.setUpTotp(on, request.principal, request.body, senderOf(request)),
  });

  api.post(`${OWN}/totp/confirm`, 'confirmTotp', 'Begin to use the app that makes codes', {
    secretAnswer: true,
    description: 'From now on, a login needs a second factor. With the first one come ten recovery codes.',
    body: schema.ConfirmTotp,
    answer: schema.AddedFactor,
    handler: ({ principal, body }) => factors.confirmTotp(on, principal, body.code),
  });

  api.post(`${OWN}/passkey_options`, 'getPasskeyOptions', 'Get what a browser needs to make a passkey', {
    secretAnswer: true,
    refuses: [409],
    description: `For five minutes. ${AGAIN} Refused with 409 unless TRADEWIND_PUBLIC_URL is an https address with a name, or localhost.`,
    body: schema.OwnProof,
    answer: schema.PasskeyOptions,
    handler: (request) => factors.passkeyOptions(on, request.principal, request.body, senderOf(request)),
  });

  api.post(`${OWN}/passkeys`, 'addPasskey', 'Add a passkey', {
    secretAnswer: true,
    status: 201,
    description: 'With what the browser made of the options. With the first second factor come ten recovery codes.',
    body: schema.AddPasskey,
    answer: schema.AddedFactor,
    handler: ({ principal, body }) => factors.addPasskey(on, principal, body),
  });

  api.post(`${OWN}/recovery_codes`, 'makeRecoveryCodes', 'Make new recovery codes', {
    secretAnswer: true,
    refuses: [409],
    description: `The former ones no longer work. ${AGAIN}`,
    body: schema.OwnProof,
    answer: schema.RecoveryCodes,
    handler: (request) => factors.makeRecoveryCodes(on, request.principal, request.body, senderOf(request)),
  });

  api.post(`${OWN}/:second_factor_id/remove`, 'removeSecondFactor', 'Remove a second factor', {
    description: `${AGAIN} With the last one go the recovery codes. Refused with 409 if an account of the user requires one.`,
    body: schema.OwnProof,
    handler: (request) => {
      const { principal, params, body } = request;
      return factors.removeSecondFactor(on, principal, params.second_factor_id, body, senderOf(request));
    },
  });
}

/** Callers of these have given the password. */
function loginRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: 'public' });

  api.post(LOGIN, 'logInWithSecondFactor', 'Log in with a second factor', {
    secretAnswer: true,
    refuses: [401],
    description:
      'For the challenge that POST /iam/auth/jwt/login answers to the right password. Send one of `code`, `recovery_code` and `passkey`. Wrong ones count like wrong passwords.',
    body: schema.SecondFactorLogin,
    answer: schema.SecondFactorPair,
    handler: (request) => factors.completeLogin(on, request.body, senderOf(request)),
  });

  api.post(`${LOGIN}/passkey_options`, 'getPasskeyLoginOptions', 'Get what a browser needs to use a passkey', {
    secretAnswer: true,
    refuses: [401, 409],
    description: 'Each answer of a passkey is for the last options, and is read once.',
    body: schema.ChallengeOnly,
    answer: schema.PasskeyOptions,
    handler: ({ body }) => factors.passkeyOptionsOfLogin(on, body.challenge),
  });

  api.post(`${LOGIN}/enrol`, 'enrolForLogin', 'Set up an app that makes codes before logging in', {
    secretAnswer: true,
    refuses: [401, 409],
    description:
      'For a challenge with `enrol`: the account requires a second factor, and the user has none. Then send a code of the app to POST /tradewind/v1/logins/second_factor.',
    body: schema.ChallengeOnly,
    answer: schema.Totp,
    handler: ({ body }) => factors.enrolForLogin(on, body.challenge),
  });
}
