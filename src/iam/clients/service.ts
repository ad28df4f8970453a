import { prepareProjects } from '../../cloud/network/project-changes/service.ts';
import type { Transaction } from '../../db/database.ts';
import { placeholderEmail, requireEmail } from '../../lib/email.ts';
import { ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { OFFERED, SERVICES, type ServiceName, type User } from '../accounts/schema.ts';
import * as accounts from '../accounts/service.ts';
import { endResellerAccess, expireInvitations } from '../accounts/users/in-transaction.ts';
import { type AvailableService, keepUsed, servicesOfClients } from '../client-services/service.ts';
import { type FeatureActivation, featuresOfClients } from '../features/service.ts';
import { type Credentials, together } from '../identity/service.ts';
import { announceClient } from '../logins/in-transaction.ts';
import { insertAccount } from '../new-accounts/in-transaction.ts';
import { deleteTokens } from '../tokens/service.ts';
import { usersOfClient } from '../users/service.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';

/** What other features know about an account. */
export interface OfAccount {
  activations: readonly FeatureActivation[];
  services: readonly AvailableService[];
}

export function presentedAccount(
  row: store.AccountRow,
  currentUser: number,
  { activations, services }: OfAccount,
  users?: User[],
): schema.Account {
  const featuresOf = (service: ServiceName, free: boolean) =>
    activations.filter(({ feature }) => feature.is_free === free && feature.service === service);
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    status: row.status,
    companyName: row.company,
    currentUser,
    capabilities: OFFERED.filter((name) => services.some((one) => one.service === name && one.available)),
    serviceStatuses: perService((service) => {
      const state = services.find((one) => one.service === service);
      return { status: state?.status ?? 'new', enabled: state?.enabled ?? false };
    }),
    paidFeatures: perService((service) =>
      featuresOf(service, false).map((one) => ({ paid_feature_id: one.id, ...accountFeature(one) })),
    ),
    freeFeatures: perService((service) =>
      featuresOf(service, true).map((one) => ({ free_feature_id: one.id, ...accountFeature(one) })),
    ),
    entryBaseDomain: null,
    signup_process: null,
    deleted: row.deleted_at !== null,
    bill_type: 'common',
    is_test: row.is_test,
    has_active_admin: row.has_active_admin,
    phone: row.phone,
    website: null,
    custom_id: row.custom_id,
    country_code: row.country_code,
    ...(users && { users }),
  };
}

/** An account as its reseller sees it. */
export function presentedClient(
  row: store.AccountRow,
  currentUser: number,
  known: OfAccount,
  users?: User[],
): schema.Client {
  return {
    seller: row.seller_id,
    ...presentedAccount(row, currentUser, known, users),
    resellers: row.reseller_id,
    client_type: row.of_reseller ? 'reseller' : 'common',
    owner: row.owner_id,
  };
}

function accountFeature({ feature, created_date }: FeatureActivation) {
  return { feature_id: feature.id, service: feature.service, name: feature.name, create_date: created_date };
}

function perService<T>(entry: (service: ServiceName) => T): Record<ServiceName, T> {
  return Object.fromEntries(SERVICES.map((service) => [service, entry(service)])) as Record<ServiceName, T>;
}

/* Accounts. Resellers reach their own clients, the platform administrator all. */

/** Looks once for all accounts: a list has up to 10,000 of them. */
async function knownOf(on: Platform, clientIds: readonly number[]): Promise<(clientId: number) => OfAccount> {
  const activations = await featuresOfClients(on, clientIds);
  const states = await servicesOfClients(on, clientIds);
  return (clientId) => ({
    activations: activations.get(clientId) ?? [],
    services: states.get(clientId) ?? [],
  });
}

/** @throws NotFoundError */
export async function getClient(on: Platform, principal: Principal, clientId: number): Promise<schema.Client> {
  const row = await store.findAccount(on.database.sql, clientId);
  if (!row || !accounts.resells(principal, { resellerId: row.reseller_id })) {
    throw new NotFoundError('Client', clientId);
  }
  const known = await knownOf(on, [clientId]);
  return presentedClient(row, principal.userId, known(clientId), await usersOfClient(on, clientId));
}

/** The caller's own account. */
export async function getOwnClient(on: Platform, { clientId, userId }: Principal): Promise<schema.Account> {
  const row = await store.findAccount(on.database.sql, clientId);
  if (!row) throw new NotFoundError('Client', clientId);
  const known = await knownOf(on, [clientId]);
  return presentedAccount(row, userId, known(clientId), await usersOfClient(on, clientId));
}

/** Creates a client of the caller's reseller, with an administrator and a default project that is ready for use. */
export async function createClient(
  on: Platform,
  principal: Principal,
  { company }: schema.CreateClient,
): Promise<schema.CreatedClient> {
  const { resellerId } = principal;
  if (resellerId === undefined) {
    throw new ForbiddenError('The token belongs to no reseller, so the client would not belong to one either');
  }
  return on.database.accept(async (tx) => {
    const { clientId } = await insertAccount(tx.sql, {
      company,
      resellerId,
      administrator: { email: placeholderEmail(), platform_administrator: false },
      now: tx.now,
    });
    await prepareProjects(tx, on.catalog, clientId);
    tx.made(clientId);
    return { id: clientId, company };
  });
}

/** Returns a page if the query has a limit, else everything in an array. @throws InvalidError */
export async function listClients(
  on: Platform,
  principal: Principal,
  query: schema.ClientListQuery,
): Promise<schema.Client[] | schema.ClientPage> {
  const filter = store.filterOf(query, principal.platformAdministrator ? undefined : principal.resellerId);
  const { limit, offset = 0, ...rest } = query;
  const { count, rows } = filter
    ? await store.listAccounts(on.database.sql, filter, { limit, offset })
    : { count: 0, rows: [] };
  const known = await knownOf(
    on,
    rows.map(({ id }) => id),
  );
  const results = rows.map((row) => presentedClient(row, principal.userId, known(row.id)));
  if (limit === undefined) return results;
  return { count, ...pagesAround('/iam/clients', { limit, offset }, count, rest), results };
}

/** @throws NotFoundError, InvalidError */
export async function updateClient(
  on: Platform,
  principal: Principal,
  clientId: number,
  request: schema.UpdateClient,
): Promise<schema.Client> {
  const ended = await on.database.accept(async (tx): Promise<Credentials> => {
    // With the account, its users may lose the clients that they look after.
    if (request.reseller !== undefined) await accounts.lockWithLookedAfter(tx, clientId, 'anybody there');
    const client = await accounts.lockManaged(tx, principal, clientId);
    noteAccount(clientId);
    if (request.email !== undefined) requireEmail(request.email);
    const { reseller = client.resellerId } = request;
    const moved = reseller !== client.resellerId;
    if (moved) await keepNewReseller(tx, principal, reseller);
    if (request.seller) await requireSeller(tx, request.seller, reseller);
    await store.updateAccount(tx.sql, clientId, changesIn(request, moved));
    if (!moved) return { tokens: [], logins: [] };
    // The former reseller can no longer act for anybody there, nor let anybody in, nor anybody there for it.
    const now = tx.now;
    await accounts.unassignSellers(tx.sql, await endResellerAccess(tx.sql, clientId));
    await expireInvitations(tx.sql, clientId, now);
    await keepUsed(tx.sql, clientId);
    const tokens = await deleteTokens(tx, { clientId, onlyOfOutsiders: true });
    return together(tokens, await announceClient(tx, clientId));
  });
  on.authenticator.forget(ended);
  return getClient(on, principal, clientId);
}

async function keepNewReseller(tx: Transaction, principal: Principal, reseller: number): Promise<void> {
  if (!principal.platformAdministrator) {
    throw new InvalidError({
      reseller: ['Only the platform administrator may give a client to another reseller.'],
    });
  }
  if (await accounts.keepReseller(tx.sql, reseller)) return;
  throw new InvalidError({ reseller: [`Reseller with id:${reseller} does not exists.`] });
}

async function requireSeller(tx: Transaction, seller: number, reseller: number): Promise<void> {
  if (await accounts.worksForReseller(tx, seller, reseller)) return;
  throw new InvalidError({ seller: [`User with id:${seller} does not work for reseller ${reseller}.`] });
}

function changesIn(request: schema.UpdateClient, moved: boolean) {
  const { companyName: company, reseller: reseller_id, seller: seller_id, ...rest } = request;
  return {
    ...rest,
    ...(company !== undefined && { company }),
    ...(reseller_id !== undefined && { reseller_id }),
    // A seller belongs to one reseller.
    ...(moved && { seller_id: null }),
    ...(seller_id !== undefined && { seller_id }),
  };
}
