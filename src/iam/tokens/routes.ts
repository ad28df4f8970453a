import { pathGuard } from '../../http/admission.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { InvalidError } from '../../lib/errors.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { ApiToken, ApiTokenArray, CreateApiToken, CreatedApiToken, TokenListQuery, TokenParams } from './schema.ts';
import { createToken, getToken, listTokens, requireAccount, revokeToken } from './service.ts';

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
  const onRequest = pathGuard(on, 'clientId', requireAccount);

  const api = operations(app, { tags, params: ClientParams, onRequest, deprecated: version === 1 });

  api.get(base, `listApiTokens${suffix}`, 'List API tokens', {
    description: 'Newest first. Administrators get all tokens of the account, others their own.',
    query: TokenListQuery,
    answer: ApiTokenArray,
    handler: ({ principal, params, query }) => listTokens(on, principal, params.clientId, query),
  });

  api.post(base, `createApiToken${suffix}`, 'Create an API token', {
    access: 'read',
    secretAnswer: true,
    description: `The answer holds the token, \`<id>${version === 1 ? '$' : '_'}<secret>\`, this once. The token acts for the caller; a token for another account acts for that account's administrator. An account can have at most 100 working tokens.`,
    body: CreateApiToken,
    answer: CreatedApiToken,
    handler: ({ principal, params, body }) => {
      requireOperations(app, body.operations);
      return createToken(on, principal, params.clientId, body, version);
    },
  });

  api.get(`${base}/:tokenId`, `getApiToken${suffix}`, 'Get an API token', {
    params: TokenParams,
    answer: ApiToken,
    handler: ({ principal, params }) => getToken(on, principal, params.clientId, params.tokenId),
  });

  api.delete(`${base}/:tokenId`, `deleteApiToken${suffix}`, 'Revoke an API token', {
    access: 'read',
    description: 'The next request with the token is refused with 401. A token may not revoke one with more rights.',
    params: TokenParams,
    handler: ({ principal, params }) => revokeToken(on, principal, params.clientId, params.tokenId),
  });
}

/** @throws InvalidError for a name that no operation has */
function requireOperations(app: Api, names: readonly string[] = []): void {
  const unknown = names.filter((name) => !name.endsWith('*') && !app.hasOperation(name));
  if (unknown.length > 0) throw new InvalidError({ operations: [`No operation is called ${unknown.join(', ')}.`] });
}
