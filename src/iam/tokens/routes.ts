import { Type } from 'typebox';
import { pathGuard } from '../../http/path-guard.ts';
import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import {
  ApiToken,
  ApiTokenArray,
  CreateApiToken,
  CreatedApiToken,
  TokenListQuery,
  TokenParams,
} from './schema.ts';
import { createToken, getToken, listTokens, requireTokenAccount, revokeToken } from './service.ts';

const tags = ['API tokens'];

export function tokenRoutes(app: Api, on: Platform): void {
  tokenRoutesOf(app, on, { version: 2, base: '/iam/v2/clients/:clientId/tokens', suffix: '' });
  tokenRoutesOf(app, on, { version: 1, base: '/iam/clients/:clientId/tokens', suffix: 'V1' });
}

/** The two versions differ only in the text of a new token. */
function tokenRoutesOf(
  app: Api,
  on: Platform,
  { version, base, suffix }: { version: 1 | 2; base: string; suffix: string },
): void {
  const common = { tags, deprecated: version === 1 };
  const onRequest = pathGuard(on, 'clientId', requireTokenAccount);

  app.get(base, {
    config: { access: 'read' },
    onRequest,
    schema: {
      ...common,
      operationId: `listApiTokens${suffix}`,
      summary: 'List API tokens',
      description: 'Newest first. Administrators get all tokens of the account, others their own.',
      params: ClientParams,
      querystring: TokenListQuery,
      response: { 200: ApiTokenArray },
    },
    handler: ({ principal, params, query }) => listTokens(on, principal, params.clientId, query),
  });

  app.post(base, {
    config: { access: 'read', secretAnswer: true },
    onRequest,
    schema: {
      ...common,
      operationId: `createApiToken${suffix}`,
      summary: 'Create an API token',
      description: `The answer holds the token, \`<id>${version === 1 ? '$' : '_'}<secret>\`, this once. The token acts for the caller; a token for another account acts for that account's administrator. An account can have at most 100 working tokens.`,
      params: ClientParams,
      body: CreateApiToken,
      response: { 200: CreatedApiToken },
    },
    handler: ({ principal, params, body }) => createToken(on, principal, params.clientId, body, version),
  });

  app.get(`${base}/:tokenId`, {
    config: { access: 'read' },
    onRequest,
    schema: {
      ...common,
      operationId: `getApiToken${suffix}`,
      summary: 'Get an API token',
      params: TokenParams,
      response: { 200: ApiToken },
    },
    handler: ({ principal, params }) => getToken(on, principal, params.clientId, params.tokenId),
  });

  app.delete(`${base}/:tokenId`, {
    config: { access: 'read' },
    onRequest,
    schema: {
      ...common,
      operationId: `deleteApiToken${suffix}`,
      summary: 'Revoke an API token',
      description:
        'The next request with the token is refused with 401. A token may not revoke one with more rights.',
      params: TokenParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await revokeToken(on, principal, params.clientId, params.tokenId);
      return reply.code(204).send(null);
    },
  });
}
