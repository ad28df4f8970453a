import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { browserCookie } from '../../logins/console/service.ts';
import { senderOf } from '../../logins/passwords/service.ts';
import * as schema from './schema.ts';
import * as providers from './service.ts';
import * as signIns from './sign-ins.ts';

const BASE = '/tradewind/v1/identity_providers';
const ONE = `${BASE}/:provider_id`;
const STATE_SECONDS = 600;

export function singleSignOnRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Single sign-on'], access: 'administer', params: schema.ProviderParams });

  api.get(BASE, 'listIdentityProviders', 'List identity providers', {
    description: 'Those of the account, and those of the reseller for its administrators.',
    answer: schema.ProviderList,
    handler: ({ principal }) => providers.listProviders(on, principal),
  });

  api.post(BASE, 'createIdentityProvider', 'Create an identity provider', {
    refuses: [409],
    description:
      "Lets people of an account, or of a reseller's clients, sign in by OpenID Connect. Register `/tradewind/v1/sign_in/callback` below the public address as the redirect address. `openid`, `profile` and `email` are the default scopes, and `groups` is the default claim.",
    body: schema.NewProvider,
    status: 201,
    answer: schema.IdentityProvider,
    handler: ({ principal, body }) => providers.createProvider(on, principal, body),
  });

  api.get(ONE, 'getIdentityProvider', 'Get an identity provider', {
    answer: schema.IdentityProvider,
    handler: ({ principal, params }) => providers.getProvider(on, principal, params.provider_id),
  });

  api.patch(ONE, 'updateIdentityProvider', 'Change an identity provider', {
    refuses: [409],
    description:
      'Another issuer or client ID forgets whom the provider has vouched for, since its numbers mean other people. It ends their logins; disabling the provider does so, too. To require it, have a second factor, or sign in with it.',
    body: schema.ProviderChange,
    answer: schema.IdentityProvider,
    handler: ({ principal, params, body }) => providers.changeProvider(on, principal, params.provider_id, body),
  });

  api.delete(ONE, 'deleteIdentityProvider', 'Delete an identity provider', {
    description: 'Ends the logins of its people. The users stay.',
    handler: ({ principal, params }) => providers.deleteProvider(on, principal, params.provider_id),
  });

  const open = operations(app, { tags: ['Single sign-on'], access: 'public', params: schema.ProviderParams });

  open.get('/tradewind/v1/sign_in/callback', 'finishSignIn', 'Finish to sign in with an identity provider', {
    secretAnswer: true,
    refuses: [403, 503],
    description:
      'Where an identity provider sends the browser back to. Redirects (302) to the console, with a code that signs this browser in; without the console, it answers the pair of tokens. A provider lets the login last for 12 hours at most.',
    query: schema.Callback,
    answer: schema.Finished,
    handler: async (request, reply) => {
      const search = request.url.slice(request.url.indexOf('?') + 1);
      const browser = browserOf(on, request);
      const done = await signIns.finishSignIn(on, { query: request.query, search, browser }, senderOf(request));
      if ('pair' in done) return done.pair;
      return redirected(reply, done.url);
    },
  });

  open.get('/tradewind/v1/sign_in/:provider_id', 'startSignIn', 'Sign in with an identity provider', {
    refuses: [409, 503],
    description: 'Redirects (302) the browser to the provider, and sets a cookie: only this browser can finish.',
    answer: schema.Started,
    handler: async ({ params }, reply) => {
      const { url, browser } = await signIns.startSignIn(on, params.provider_id);
      void reply.header(
        'set-cookie',
        stringifySetCookie({
          ...browserCookie(on),
          value: browser,
          maxAge: STATE_SECONDS,
          httpOnly: true,
          // Not "strict": the provider's page leads back here.
          sameSite: 'lax',
          path: '/',
        }),
      );
      return redirected(reply, url);
    },
  });
}

const redirected = (reply: FastifyReply, url: string): FastifyReply =>
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(url, 302);

const browserOf = (on: Platform, { headers }: FastifyRequest): string | undefined =>
  parseCookie(headers.cookie ?? '')[browserCookie(on).name] || undefined;
