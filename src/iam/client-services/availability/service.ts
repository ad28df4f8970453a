import type { Transaction } from '../../../db/database.ts';
import { ForbiddenError, InvalidError, NotFoundError, ProductInUseError } from '../../../lib/errors.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { isOffered, type OfferedService, SERVICES, type ServiceName } from '../../accounts/schema.ts';
import { findClient, lockAllOf, lockManaged, renewVersions, resells } from '../../accounts/service.ts';
import type { ProductAvailability } from './schema.ts';
import * as store from './store.ts';

/*
 * A reseller decides which products its clients may have, by default and for single clients. An account can't switch on a
 * product that isn't available to it, and a new account begins without it.
 */

async function requireClient(on: Platform, principal: Principal, clientId: number): Promise<void> {
  const client = await findClient(on.database.sql, clientId);
  if (!client || !resells(principal, client)) throw new NotFoundError('Client', clientId);
  noteAccount(clientId);
}

/**
 * Ends decisions for accounts, unless one of them uses a product that it could not have then. Returns the accounts for
 * which something was decided.
 */
async function forget(
  tx: Transaction,
  which: store.Which,
  resellerId: number,
  products: readonly ServiceName[],
) {
  const offered = products.filter(isOffered);
  const defaults = await store.defaultsOf(tx.sql, resellerId);
  const unavailable = offered.filter((product) => defaults.get(product) === false);
  refuseInUse(await store.inUse(tx.sql, which, unavailable, true));
  return store.forgetDecisions(tx.sql, which, offered);
}

/** @throws ForbiddenError for a caller of no reseller */
export async function defaultAvailabilities(
  on: Platform,
  principal: Principal,
): Promise<ProductAvailability[]> {
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
export async function resetAvailabilityForAll(
  on: Platform,
  principal: Principal,
  products: readonly ServiceName[],
): Promise<void> {
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
  const having = (status: string) =>
    used.filter((one) => one.status === status).map(({ product }) => product);
  throw new ProductInUseError({
    trial: having('trial'),
    activating: having('activating'),
    active: having('active'),
  });
}
