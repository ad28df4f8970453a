import { operations } from '../../../http/operations.ts';
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
  const api = operations(app, { tags, access: 'resell' });

  api.get(`${BASE}/defaults`, 'listDefaultProducts', 'List which products clients may have by default', {
    description: "For the clients of the caller's reseller.",
    answer: ProductAvailabilityArray,
    handler: ({ principal }) => defaultAvailabilities(on, principal),
  });

  api.patch(`${BASE}/defaults`, 'setDefaultProduct', 'Set whether clients may have a product by default', {
    description: `Counts for clients of the caller's reseller for whom nothing else was set, but not for accounts that the reseller works in. A new client begins without what it may not have, and that can't be switched on for it. ${IN_USE}`,
    body: SetProductAvailability,
    answer: ProductAvailability,
    handler: ({ principal, body }) => setDefaultAvailability(on, principal, body),
  });

  api.get(ONE, 'listClientProducts', 'List which products a client may have', {
    versioned: { table: 'clients', columns: { clientId: 'id' } },
    params: ClientParams,
    answer: ProductAvailabilityArray,
    handler: ({ principal, params }) => availabilitiesOfClient(on, principal, params.clientId),
  });

  api.patch(ONE, 'setClientProduct', 'Set whether a client may have a product', {
    description: `From then on, the default of this product doesn't count for the client. What becomes available is switched on with \`PUT /iam/clients/{clientId}/services/{serviceId}\`. ${IN_USE}`,
    params: ClientParams,
    body: SetProductAvailability,
    answer: ProductAvailability,
    handler: ({ principal, params, body }) => setAvailabilityForClient(on, principal, params.clientId, body),
  });

  api.delete(ONE, 'resetClientProducts', 'Let the defaults count for a client again', {
    description: IN_USE,
    params: ClientParams,
    body: ResetProductAvailability,
    handler: ({ principal, params, body }) =>
      resetAvailabilityForClient(on, principal, params.clientId, body.product_names),
  });

  api.delete(`${BASE}/clients`, 'resetAllProducts', 'Let the defaults count for all clients again', {
    description: `For the clients of the caller's reseller. ${IN_USE}`,
    body: ResetProductAvailability,
    handler: ({ principal, body }) => resetAvailabilityForAll(on, principal, body.product_names),
  });
}
