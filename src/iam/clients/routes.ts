import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import {
  Account,
  Client,
  ClientList,
  ClientListQuery,
  CreateClient,
  CreatedClient,
  UpdateClient,
} from './schema.ts';
import { createClient, getClient, getOwnClient, listClients, updateClient } from './service.ts';

const tags = ['Clients'];
/** Names of operations are not client ids, whatever the method. */
const ONE = '/iam/clients/:clientId(^(?!create$|invite_user$|me$).*$)';

export function clientRoutes(app: Api, on: Platform): void {
  app.get('/iam/clients/me', {
    config: { access: 'read' },
    schema: {
      operationId: 'getMyAccount',
      summary: "Get the token's own account",
      tags,
      response: { 200: Account },
    },
    handler: ({ principal }) => getOwnClient(on, principal),
  });

  app.post('/iam/clients/create', {
    config: { access: 'resell' },
    schema: {
      operationId: 'createClient',
      summary: 'Create a client',
      description:
        "A client of the caller's reseller, with an administrator and a default project. The reseller can create an API token for it and invite users.",
      tags,
      body: CreateClient,
      response: { 201: CreatedClient },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await createClient(on, principal, body)),
  });

  app.get('/iam/clients', {
    config: { access: 'resell' },
    schema: {
      operationId: 'listClients',
      summary: 'List the clients of a reseller',
      description:
        'Without `limit`, an array of at most 10,000; otherwise a page. The platform administrator gets the clients of all resellers.',
      tags,
      querystring: ClientListQuery,
      response: { 200: ClientList },
    },
    handler: ({ principal, query }) => listClients(on, principal, query),
  });

  app.get(ONE, {
    config: { access: 'resell', versioned: { table: 'clients', columns: { clientId: 'id' } } },
    schema: {
      operationId: 'getClient',
      summary: 'Get a client',
      tags,
      params: ClientParams,
      response: { 200: Client },
    },
    handler: ({ principal, params }) => getClient(on, principal, params.clientId),
  });

  app.patch(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'updateClient',
      summary: 'Change a client',
      tags,
      params: ClientParams,
      body: UpdateClient,
      response: { 200: Client },
    },
    handler: ({ principal, params, body }) => updateClient(on, principal, params.clientId, body),
  });
}
