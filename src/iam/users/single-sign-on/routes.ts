import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import { browserCookie } from '../../logins/console/service.ts';
import { senderOf } from '../../logins/passwords/service.ts';
import { TokenPair } from '../../logins/schema.ts';
import * as schema from './schema.ts';
import * as providers from './service.ts';
import * as signIns from './sign-ins.ts';

const BASE = '/tradewind/v1/identity_providers';
const ONE = `${BASE}/:provider_id`;
const VERSIONED: Versioned = { table: 'identity_providers', columns: { provider_id: 'id' }, uuid: 'provider_id' };
const STATE_SECONDS = 600;

export function singleSignOnRoutes(app: Api, on: Platform): void {
  // Before anything is said of it: a version, for example.
  const preHandler = async ({ principal, params }: FastifyRequest) => {
    await providers.getProvider(on, principal, (params as { provider_id: string }).provider_id);
  };
  const api = operations(app, { tags: ['Single sign-on'], access: 'administer', params: schema.ProviderParams });

  api.get(BASE, 'listIdentityProviders', 'List identity providers', {
    description: 'Those of the account, and those of the reseller for its administrators.',
    answer: schema.ProviderList,
    handler: ({ principal }) => providers.listProviders(on, principal),
  });

  api.post(BASE, 'createIdentityProvider', 'Create an identity provider', {
    refuses: [409],
    description:
      "Lets people of an account, or of a reseller's clients, sign in by OpenID Connect, at `sign_in_path` below the public address. Register `/tradewind/v1/sign_in/callback` below the public address as the redirect address. `openid`, `profile` and `email` are the default scopes, and `groups` is the default claim.",
    body: schema.NewProvider,
    status: 201,
    answer: schema.IdentityProvider,
    handler: ({ principal, body }) => providers.createProvider(on, principal, body),
  });

  api.get(ONE, 'getIdentityProvider', 'Get an identity provider', {
    versioned: VERSIONED,
    answer: schema.IdentityProvider,
    handler: ({ principal, params }) => providers.getProvider(on, principal, params.provider_id),
  });

  api.patch(ONE, 'updateIdentityProvider', 'Change an identity provider', {
    refuses: [409],
    description:
      'Another issuer or client ID forgets whom the provider has vouched for, since its numbers mean other people. It ends their logins; disabling the provider does so, too. To require it, have a second factor, or sign in with it.',
    body: schema.ProviderChange,
    answer: schema.IdentityProvider,
    preHandler,
    handler: ({ principal, params, body }) => providers.changeProvider(on, principal, params.provider_id, body),
  });

  api.delete(ONE, 'deleteIdentityProvider', 'Delete an identity provider', {
    description: 'Ends the logins of its people. The users stay.',
    preHandler,
    handler: ({ principal, params }) => providers.deleteProvider(on, principal, params.provider_id),
  });

  browserRoutes(app, on);
}

/** For browsers alone, and so not part of the API's document: people go there, and providers send them back. */
function browserRoutes(app: Api, on: Platform): void {
  const config = { access: 'public', secretAnswer: true } as const;

  // Providers add parameters of their own.
  app.get(
    signIns.CALLBACK,
    { config, schema: { hide: true, querystring: {}, response: { 200: TokenPair } } },
    async (request, reply) => {
      const { id, method, url } = request;
      const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
      const done = await signIns.finishSignIn(
        on,
        { query, browser: browserOf(on, request) },
        { ...senderOf(request), id, method, url },
      );
      if ('pair' in done) return done.pair;
      return redirected(reply, done.url);
    },
  );

  app.get(
    '/tradewind/v1/sign_in/:provider_id',
    { config, schema: { hide: true, params: schema.ProviderParams } },
    async ({ params }, reply) => {
      const { url, browser } = await signIns.startSignIn(on, params.provider_id);
      const cookie = stringifySetCookie({
        ...browserCookie(on),
        value: browser,
        maxAge: STATE_SECONDS,
        httpOnly: true,
        // Not "strict": the provider's page leads back here.
        sameSite: 'lax',
        path: '/',
      });
      return redirected(reply.header('set-cookie', cookie), url);
    },
  );
}

const redirected = (reply: FastifyReply, url: string): FastifyReply =>
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(url, 302);

const browserOf = (on: Platform, { headers }: FastifyRequest): string | undefined =>
  parseCookie(headers.cookie ?? '')[browserCookie(on).name] || undefined;
