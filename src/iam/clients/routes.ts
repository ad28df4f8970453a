import { Type } from 'typebox';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { ClientParams, IntegerId } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { setClientStatus } from './changes.ts';
import * as schema from './schema.ts';
import { createClient, getClient, getOwnClient, listClients, updateClient } from './service.ts';

const tags = ['Clients'];
/** Names of operations are not client ids, whatever the method. */
const ONE = '/iam/clients/:clientId(^(?!create$|invite_user$|me$).*$)';

export function clientRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.get('/iam/clients/me', 'getMyAccount', "Get the token's own account", {
    answer: schema.Account,
    handler: ({ principal }) => getOwnClient(on, principal),
  });

  api.post('/iam/clients/create', 'createClient', 'Create a client', {
    access: 'resell',
    description:
      "A client of the caller's reseller, with an administrator and a default project. The reseller can create an API token for it and invite users.",
    body: schema.CreateClient,
    status: 201,
    answer: schema.CreatedClient,
    handler: async ({ principal, body }) => await createClient(on, principal, body),
  });

  api.get('/iam/clients', 'listClients', 'List the clients of a reseller', {
    access: 'resell',
    description:
      'Without `limit`, an array of at most 10,000; otherwise a page. The platform administrator gets the clients of all resellers.',
    query: schema.ClientListQuery,
    answer: schema.ClientList,
    handler: ({ principal, query }) => listClients(on, principal, query),
  });

  api.get(ONE, 'getClient', 'Get a client', {
    access: 'resell',
    versioned: { table: 'clients', columns: { clientId: 'id' } },
    params: ClientParams,
    answer: schema.Client,
    handler: ({ principal, params }) => getClient(on, principal, params.clientId),
  });

  api.patch(ONE, 'updateClient', 'Change a client', {
    access: 'resell',
    params: ClientParams,
    body: schema.UpdateClient,
    answer: schema.Client,
    handler: ({ principal, params, body }) => updateClient(on, principal, params.clientId, body),
  });
}

const SUSPENSION_ONE = '/tradewind/v1/clients/:client_id';

const params = Type.Object({ client_id: IntegerId('Account') });

export function suspensionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: params, access: 'resell' });

  api.post(`${SUSPENSION_ONE}/suspend`, 'suspendClient', 'Suspend a client', {
    description:
      'Its API tokens and logins are refused from now on. Its resources stay and cost what they did (`GET /tradewind/v1/clients/{client_id}/running_costs`), and work in progress goes on. With the setting `TRADEWIND_SUSPENSION_STOPS_MACHINES`, its machines stop within minutes, except nodes of clusters.',
    answer: schema.Client,
    handler: ({ principal, params }) => setClientStatus(on, principal, params.client_id, 'paused'),
  });

  api.post(`${SUSPENSION_ONE}/resume`, 'resumeClient', 'Resume a suspended client', {
    description:
      'Its API tokens work again. Its users log in anew. Machines that the suspension stopped start again, unless somebody changed them since.',
    answer: schema.Client,
    handler: ({ principal, params }) => setClientStatus(on, principal, params.client_id, 'active'),
  });
}
