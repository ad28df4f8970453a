import { randomBytes } from 'node:crypto';
import { prepareProjects } from '../../cloud/network/project-changes/in-transaction.ts';
import type { Transaction } from '../../db/database.ts';
import { requireEmail } from '../../lib/email.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { grouped } from '../../lib/grouped.ts';
import { MOST_LISTED } from '../../lib/ordered-list.ts';
import { pagesAround } from '../../lib/page-address.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import {
  keepReseller,
  lockManaged,
  lockWithLookedAfter,
  unassignSellers,
} from '../accounts/in-transaction.ts';
import { resells, worksForReseller } from '../accounts/service.ts';
import { endResellerAccess, expireInvitations } from '../accounts/users/in-transaction.ts';
import { keepUsed } from '../client-services/in-transaction.ts';
import { servicesOfClients } from '../client-services/service.ts';
import { featuresOfClients } from '../features/service.ts';
import { type Credentials, together } from '../identity/in-transaction.ts';
import { announceClient } from '../logins/in-transaction.ts';
import { insertAccount } from '../new-accounts/in-transaction.ts';
import { deleteTokensOfOutsiders } from '../tokens/in-transaction.ts';
import { usersOfClient } from '../users/service.ts';
import { filterOf, orderOf } from './filter.ts';
import { changeStatus } from './in-transaction.ts';
import { type OfAccount, presentedAccount, presentedClient } from './presenter.ts';
import type {
  Account,
  Client,
  ClientListQuery,
  ClientPage,
  CreateClient,
  CreatedClient,
  UpdateClient,
} from './schema.ts';
import * as store from './store.ts';

/* Accounts. Resellers reach their own clients, the platform administrator all. */

/** Looks once for all accounts: a list has up to 10,000 of them. */
async function knownOf(on: Platform, clientIds: readonly number[]): Promise<(clientId: number) => OfAccount> {
  const activations = grouped(await featuresOfClients(on, clientIds), ({ client_id }) => client_id);
  const states = grouped(await servicesOfClients(on, clientIds), (state) => state.clientId);
  return (clientId) => ({
    activations: activations.get(clientId) ?? [],
    services: states.get(clientId) ?? [],
  });
}

/** @throws NotFoundError */
export async function getClient(on: Platform, principal: Principal, clientId: number): Promise<Client> {
  const row = await store.findAccount(on.database.sql, clientId);
  if (!row || !resells(principal, { resellerId: row.reseller_id })) {
    throw new NotFoundError('Client', clientId);
  }
  const known = await knownOf(on, [clientId]);
  return presentedClient(row, principal.userId, known(clientId), await usersOfClient(on, clientId));
}

/** The caller's own account. */
export async function getOwnClient(on: Platform, { clientId, userId }: Principal): Promise<Account> {
  const row = await store.findAccount(on.database.sql, clientId);
  if (!row) throw new NotFoundError('Client', clientId);
  const known = await knownOf(on, [clientId]);
  return presentedAccount(row, userId, known(clientId), await usersOfClient(on, clientId));
}

/**
 * Creates a client of the caller's reseller, with an administrator and a default project that is ready for
 * use.
 */
export async function createClient(
  on: Platform,
  principal: Principal,
  { company }: CreateClient,
): Promise<CreatedClient> {
  const { resellerId } = principal;
  if (resellerId === undefined) {
    throw new ForbiddenError(
      'The token belongs to no reseller, so the client would not belong to one either',
    );
  }
  return on.database.accept(async (tx) => {
    const { clientId } = await insertAccount(tx.sql, {
      company,
      resellerId,
      administrator: { email: placeholderEmail(), platform_administrator: false },
      now: tx.now,
    });
    await prepareProjects(tx, on.catalog, tx.now, clientId);
    tx.made(clientId);
    return { id: clientId, company };
  });
}

/** Returns a page if the query has a limit, else everything in an array. @throws InvalidError */
export async function listClients(
  on: Platform,
  principal: Principal,
  query: ClientListQuery,
): Promise<Client[] | ClientPage> {
  const filter = filterOf(query, principal.platformAdministrator ? undefined : principal.resellerId);
  const { limit = MOST_LISTED, offset = 0, ...rest } = query;
  const order = orderOf(query.ordering);
  const { count, rows } = filter
    ? await store.listAccounts(on.database.sql, filter, { order, limit, offset })
    : { count: 0, rows: [] };
  const known = await knownOf(
    on,
    rows.map(({ id }) => id),
  );
  const results = rows.map((row) => presentedClient(row, principal.userId, known(row.id)));
  if (query.limit === undefined) return results;
  return { count, ...pagesAround('/iam/clients', { limit, offset }, count, rest), results };
}

/**
 * Suspends an account or opens it again.
 * @throws NotFoundError; ConflictError for the caller's own account and as `changeStatus`
 */
export async function setClientStatus(
  on: Platform,
  principal: Principal,
  clientId: number,
  status: 'active' | 'paused',
): Promise<Client> {
  const ended = await on.database.accept(async (tx) => {
    await lockManaged(tx, principal, clientId);
    noteAccount(clientId);
    if (clientId === principal.clientId) {
      throw new ConflictError(`Client ${clientId} is your own account; you would shut yourself out`);
    }
    return changeStatus(tx, clientId, status, tx.now);
  });
  on.authenticator.forget(ended);
  return getClient(on, principal, clientId);
}

/** @throws NotFoundError, InvalidError */
export async function updateClient(
  on: Platform,
  principal: Principal,
  clientId: number,
  request: UpdateClient,
): Promise<Client> {
  const ended = await on.database.accept(async (tx): Promise<Credentials> => {
    // With the account, its users may lose the clients that they look after.
    if (request.reseller !== undefined) await lockWithLookedAfter(tx, clientId, 'anybody there');
    const client = await lockManaged(tx, principal, clientId);
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
    await unassignSellers(tx.sql, await endResellerAccess(tx.sql, clientId));
    await expireInvitations(tx.sql, clientId, now);
    await keepUsed(tx.sql, clientId);
    const tokens = await deleteTokensOfOutsiders(tx, clientId, now);
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
  if (await keepReseller(tx.sql, reseller)) return;
  throw new InvalidError({ reseller: [`Reseller with id:${reseller} does not exists.`] });
}

async function requireSeller(tx: Transaction, seller: number, reseller: number): Promise<void> {
  if (await worksForReseller(tx, seller, reseller)) return;
  throw new InvalidError({ seller: [`User with id:${seller} does not work for reseller ${reseller}.`] });
}

function changesIn(request: UpdateClient, moved: boolean) {
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

/** Every user needs a unique address, and the request has none. RFC 2606: `.invalid` never resolves. */
function placeholderEmail(): string {
  return `admin@${randomBytes(8).toString('hex')}.invalid`;
}
