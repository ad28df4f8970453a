import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import { ClientParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import {
  ProductAvailability,
  ProductAvailabilityArray,
  ResetProductAvailability,
  SetProductAvailability,
} from './schema.ts';
import {
  availabilitiesOfClient,
  defaultAvailabilities,
  resetAvailabilityForAll,
  resetAvailabilityForClient,
  setAvailabilityForClient,
  setDefaultAvailability,
} from './service.ts';

const BASE = '/iam/products/availability';
const ONE = `${BASE}/clients/:clientId`;
const tags = ['Clients'];
const IN_USE =
  'Refused with 403, with the products by status, while such a service is `trial`, `activating` or `active`: pause it first.';

export function productAvailabilityRoutes(app: Api, on: Platform): void {
  app.get(`${BASE}/defaults`, {
    config: { access: 'resell' },
    schema: {
      operationId: 'listDefaultProducts',
      summary: 'List which products clients may have by default',
      description: "For the clients of the caller's reseller.",
      tags,
      response: { 200: ProductAvailabilityArray },
    },
    handler: ({ principal }) => defaultAvailabilities(on, principal),
  });

  app.patch(`${BASE}/defaults`, {
    config: { access: 'resell' },
    schema: {
      operationId: 'setDefaultProduct',
      summary: 'Set whether clients may have a product by default',
      description: `Counts for clients of the caller's reseller for whom nothing else was set, but not for accounts that the reseller works in. A new client begins without what it may not have, and that can't be switched on for it. ${IN_USE}`,
      tags,
      body: SetProductAvailability,
      response: { 200: ProductAvailability },
    },
    handler: ({ principal, body }) => setDefaultAvailability(on, principal, body),
  });

  app.get(ONE, {
    config: { access: 'resell', versioned: { table: 'clients', columns: { clientId: 'id' } } },
    schema: {
      operationId: 'listClientProducts',
      summary: 'List which products a client may have',
      tags,
      params: ClientParams,
      response: { 200: ProductAvailabilityArray },
    },
    handler: ({ principal, params }) => availabilitiesOfClient(on, principal, params.clientId),
  });

  app.patch(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'setClientProduct',
      summary: 'Set whether a client may have a product',
      description: `From then on, the default of this product doesn't count for the client. What becomes available is switched on with \`PUT /iam/clients/{clientId}/services/{serviceId}\`. ${IN_USE}`,
      tags,
      params: ClientParams,
      body: SetProductAvailability,
      response: { 200: ProductAvailability },
    },
    handler: ({ principal, params, body }) => setAvailabilityForClient(on, principal, params.clientId, body),
  });

  app.delete(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'resetClientProducts',
      summary: 'Let the defaults count for a client again',
      description: IN_USE,
      tags,
      params: ClientParams,
      body: ResetProductAvailability,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params, body }, reply) => {
      await resetAvailabilityForClient(on, principal, params.clientId, body.product_names);
      return reply.code(204).send(null);
    },
  });

  app.delete(`${BASE}/clients`, {
    config: { access: 'resell' },
    schema: {
      operationId: 'resetAllProducts',
      summary: 'Let the defaults count for all clients again',
      description: `For the clients of the caller's reseller. ${IN_USE}`,
      tags,
      body: ResetProductAvailability,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, body }, reply) => {
      await resetAvailabilityForAll(on, principal, body.product_names);
      return reply.code(204).send(null);
    },
  });
}
