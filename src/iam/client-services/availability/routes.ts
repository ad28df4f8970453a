import { type Static, Type } from 'typebox';
import type { Transaction } from '../../../db/database.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ForbiddenError, InvalidError, ProductInUseError } from '../../../lib/errors.ts';
import { Choice, ClientParams, Input, Named } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { isOffered, type OfferedService, SERVICES, type ServiceName } from '../../accounts/schema.ts';
import { lockAllOf, lockManaged, renewVersions } from '../../accounts/service.ts';
import { requireClient } from '../service.ts';
import * as store from './store.ts';

const Product = Choice(SERVICES, { description: 'Product', examples: ['CLOUD'] });
const available = Type.Boolean({
  description: 'Whether accounts may be given the product',
  examples: [true],
});

export const ProductAvailability = Named('ProductAvailability', { product_name: Product, available });
export type ProductAvailability = Static<typeof ProductAvailability>;
export const ProductAvailabilityArray = Type.Array(ProductAvailability);

export const SetProductAvailability = Input(
  'SetProductAvailability',
  { product_name: Product, available },
  { product_name: 'CLOUD', available: true },
);

export const ResetProductAvailability = Input(
  'ResetProductAvailability',
  {
    product_names: Type.Array(Product, {
      minItems: 1,
      maxItems: SERVICES.length,
      description: 'Products for which the default counts again',
    }),
  },
  { product_names: ['CLOUD'] },
);

/*
 * A reseller decides which products its clients may have, by default and for single clients. An account can't switch on a
 * product that isn't available to it, and a new account begins without it.
 */

/**
 * Ends decisions for accounts, unless one of them uses a product that it could not have then. Returns the accounts for
 * which something was decided.
 */
async function forget(tx: Transaction, which: store.Which, resellerId: number, products: readonly ServiceName[]) {
  const offered = products.filter(isOffered);
  const defaults = await store.defaultsOf(tx.sql, resellerId);
  const unavailable = offered.filter((product) => defaults.get(product) === false);
  refuseInUse(await store.inUse(tx.sql, which, unavailable, true));
  return store.forgetDecisions(tx.sql, which, offered);
}

/** @throws ForbiddenError for a caller of no reseller */
export async function defaultAvailabilities(on: Platform, principal: Principal): Promise<ProductAvailability[]> {
  const decided = await store.defaultsOf(on.database.sql, resellerOf(principal));
  return ofEach((product) => decided.get(product) ?? true);
}

/** @throws InvalidError, ProductInUseError if clients without a decision of their own use it, ForbiddenError */
export async function setDefaultAvailability(
  on: Platform,
  principal: Principal,
  wanted: ProductAvailability,
): Promise<ProductAvailability> {
  const resellerId = resellerOf(principal);
  const product = offeredIn(wanted);
  if (!product) return wanted;
  return on.database.accept(async (tx) => {
    await lockAllOf(tx, resellerId);
    const { available } = wanted;
    const defaults = await store.defaultsOf(tx.sql, resellerId);
    if (available === (defaults.get(product) ?? true)) return wanted;
    if (!available) refuseInUse(await store.inUse(tx.sql, { resellerId }, [product], false));
    await store.putDefault(tx.sql, { reseller_id: resellerId, product, available });
    await renewVersions(tx.sql, await store.followersOf(tx.sql, resellerId, product));
    return wanted;
  });
}

/** @throws NotFoundError */
export async function availabilitiesOfClient(
  on: Platform,
  principal: Principal,
  clientId: number,
): Promise<ProductAvailability[]> {
  await requireClient(on, principal, clientId);
  const rows = await store.availabilityOf(on.database.sql, [clientId]);
  return ofEach((product) => rows.some((row) => row.product === product && row.available));
}

/** @throws NotFoundError, InvalidError, ProductInUseError if the client uses it */
export async function setAvailabilityForClient(
  on: Platform,
  principal: Principal,
  clientId: number,
  wanted: ProductAvailability,
): Promise<ProductAvailability> {
  await requireClient(on, principal, clientId);
  const product = offeredIn(wanted);
  if (!product) return wanted;
  return on.database.accept(async (tx) => {
    await lockManaged(tx, principal, clientId);
    const { available } = wanted;
    if (!available) refuseInUse(await store.inUse(tx.sql, { clientId }, [product], undefined));
    await store.putForClient(tx.sql, [{ client_id: clientId, product, available }]);
    await renewVersions(tx.sql, [clientId]);
    return wanted;
  });
}

/** @throws NotFoundError, ProductInUseError if the client uses a product that isn't available by default */
export async function resetAvailabilityForClient(
  on: Platform,
  principal: Principal,
  clientId: number,
  products: readonly ServiceName[],
): Promise<void> {
  await requireClient(on, principal, clientId);
  await on.database.accept(async (tx) => {
    const { resellerId } = await lockManaged(tx, principal, clientId);
    await store.keepDefaults(tx.sql, clientId);
    await forget(tx, { clientId }, resellerId, products);
    await renewVersions(tx.sql, [clientId]);
  });
}

/** Does it for all clients of the caller's reseller. @throws ProductInUseError, ForbiddenError */
export async function resetAvailabilityForAll(on: Platform, principal: Principal, products: readonly ServiceName[]) {
  const resellerId = resellerOf(principal);
  await on.database.accept(async (tx) => {
    await lockAllOf(tx, resellerId);
    await renewVersions(tx.sql, await forget(tx, { resellerId }, resellerId, products));
  });
}

function resellerOf({ resellerId }: Principal): number {
  if (resellerId !== undefined) return resellerId;
  throw new ForbiddenError('The token belongs to no reseller, so there are no clients to decide for');
}

const ofEach = (available: (product: OfferedService) => boolean): ProductAvailability[] =>
  SERVICES.map((name) => ({ product_name: name, available: isOffered(name) && available(name) }));

/** Returns nothing for a product that can't be had anyway. @throws InvalidError to make such a one available */
function offeredIn({ product_name: name, available }: ProductAvailability): OfferedService | undefined {
  if (isOffered(name)) return name;
  if (!available) return undefined;
  throw new InvalidError({ available: [`This platform does not offer ${name}.`] });
}

function refuseInUse(used: Awaited<ReturnType<typeof store.inUse>>): void {
  if (used.length === 0) return;
  const having = (status: string) => used.filter((one) => one.status === status).map(({ product }) => product);
  throw new ProductInUseError({
    trial: having('trial'),
    activating: having('activating'),
    active: having('active'),
  });
}

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
