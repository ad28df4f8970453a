import type { Sql, Transaction } from '../../db/database.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { grouped } from '../../lib/lists.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { isOffered, type OfferedService } from '../accounts/schema.ts';
import { lockManaged, renewVersions, requireManaged } from '../accounts/service.ts';
import { refusePlatforms } from '../accounts/users/in-transaction.ts';
import { announceClient } from '../logins/in-transaction.ts';
import { availabilityOf, keepDefaults } from './availability/store.ts';
import { presentedService, type Service, type ServiceChanges } from './schema.ts';
import * as clientServicesState from './state.ts';

/* Which services an account may use. Its reseller and the platform administrator decide. */

export interface AvailableService extends clientServicesState.ServiceState {
  available: boolean;
}

export async function requireClient(on: Platform, principal: Principal, clientId: number): Promise<void> {
  await requireManaged(on.database.sql, principal, clientId);
  noteAccount(clientId);
}

async function ofClients(
  on: Platform,
  clientIds: readonly number[],
  sql = on.database.sql,
): Promise<AvailableService[]> {
  const accounts = await findAccounts(sql, clientIds);
  const changed = grouped(await listChanged(sql, clientIds), ({ client_id }) => client_id);
  const decided = grouped(await availabilityOf(sql, clientIds), ({ client_id }) => client_id);
  return accounts.flatMap((account) =>
    clientServicesState.statesOf(account, changed.get(account.id) ?? []).map((state) => ({
      ...state,
      available: (decided.get(account.id) ?? []).some(
        ({ product, available }) => available && product === state.service,
      ),
    })),
  );
}

async function found(
  on: Platform,
  clientId: number,
  id: number,
  sql = on.database.sql,
): Promise<clientServicesState.ServiceState> {
  const state =
    clientServicesState.serviceOf(clientId, id) && (await ofClients(on, [clientId], sql)).find((one) => one.id === id);
  if (!state) throw new NotFoundError('Service', id);
  return state;
}

/** Returns the services of several accounts at once, by account, for the clients feature. */
export const servicesOfClients = async (on: Platform, clientIds: readonly number[]) =>
  grouped(await ofClients(on, clientIds), ({ clientId }) => clientId);

/** @throws NotFoundError */
export async function listClientServices(on: Platform, principal: Principal, clientId: number): Promise<Service[]> {
  await requireClient(on, principal, clientId);
  return (await ofClients(on, [clientId])).map(presentedService);
}

/** @throws NotFoundError */
export async function getClientService(
  on: Platform,
  principal: Principal,
  clientId: number,
  id: number,
): Promise<Service> {
  await requireClient(on, principal, clientId);
  return presentedService(await found(on, clientId, id));
}

/** Takes effect at once. @throws NotFoundError, InvalidError, ConflictError for the platform's own account */
export async function updateClientService(
  on: Platform,
  principal: Principal,
  clientId: number,
  id: number,
  changes: ServiceChanges,
): Promise<Service> {
  await requireClient(on, principal, clientId);
  const ended = await on.database.accept(async (tx) => {
    await lockManaged(tx, principal, clientId);
    const before = await found(on, clientId, id, tx.sql);
    const { status, enabled } = wantedOf(before, changes);
    const same = status === before.status;
    if (same && enabled === before.enabled) return { tokens: [], logins: [] };
    const service = await requireChangeable(tx, before, clientServicesState.isOpen(status));
    await putService(tx.sql, {
      client_id: clientId,
      service,
      status,
      previous_status: same ? before.previousStatus : before.status,
      enabled,
      changed_at: same ? before.changedAt : tx.now,
    });
    return announceClient(tx, clientId);
  });
  on.authenticator.forget(ended);
  return presentedService(await found(on, clientId, id));
}

/** The status implies whether the service is enabled, unless the request says so. */
function wantedOf(before: clientServicesState.ServiceState, { status, enabled }: ServiceChanges) {
  const implied = status === undefined ? before.enabled : clientServicesState.isOpen(status);
  return { status: status ?? before.status, enabled: enabled ?? implied };
}

async function requireChangeable(
  tx: Transaction,
  { clientId, service }: clientServicesState.ServiceState,
  opening: boolean,
): Promise<OfferedService> {
  if (!isOffered(service)) {
    throw new InvalidError({ status: [`This platform does not offer ${service}.`] });
  }
  const [account] = await findAccounts(tx.sql, [clientId]);
  if (account?.status === 'paused') {
    throw new InvalidError({
      status: ['The whole account is suspended; resume it first, with POST /tradewind/v1/clients/{client_id}/resume.'],
    });
  }
  await refusePlatforms(tx.sql, clientId);
  if (opening) await requireAvailable(tx, clientId, service);
  return service;
}

async function requireAvailable(tx: Transaction, clientId: number, service: OfferedService): Promise<void> {
  await keepDefaults(tx.sql, clientId);
  const rows = await availabilityOf(tx.sql, [clientId]);
  if (rows.some(({ product, available }) => product === service && available)) return;
  throw new InvalidError({
    status: [
      `${service} is not available to client ${clientId}; PATCH /iam/products/availability/clients/${clientId} can make it so.`,
    ],
  });
}

export {
  availabilityOf,
  keepDefaults,
  keepUsed,
  putForClient,
  shutUnavailable,
} from './availability/store.ts';

export async function findAccounts(db: Sql, ids: readonly number[]): Promise<clientServicesState.AccountOfServices[]> {
  return db
    .selectFrom('clients')
    .select(['id', 'status', 'created_at'])
    .where((row) => row('id', '=', row.fn.any(row.val([...ids]))))
    .execute();
}

export async function listChanged(db: Sql, ids: readonly number[]): Promise<clientServicesState.ChangedService[]> {
  return db
    .selectFrom('client_services')
    .selectAll()
    .where((row) => row('client_id', '=', row.fn.any(row.val([...ids]))))
    .execute();
}

/** Also gives the account a new version. */
export async function putService(db: Sql, row: clientServicesState.ChangedService): Promise<void> {
  const { status, previous_status, enabled, changed_at } = row;
  await db
    .insertInto('client_services')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['client_id', 'service']).doUpdateSet({ status, previous_status, enabled, changed_at }),
    )
    .execute();
  await renewVersions(db, [row.client_id]);
}
