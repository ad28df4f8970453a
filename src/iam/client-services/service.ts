import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { grouped } from '../../lib/grouped.ts';
import type { Principal } from '../../requests/principal.ts';
import { lockManaged } from '../accounts/in-transaction.ts';
import { isOffered, type OfferedService } from '../accounts/schema.ts';
import { findClient, resells } from '../accounts/service.ts';
import { refusePlatforms } from '../accounts/users/in-transaction.ts';
import type { Authenticator } from '../identity/service.ts';
import { announceClient } from '../logins/in-transaction.ts';
import { availabilityOf, keepDefaults } from './availability/store.ts';
import { presentedService } from './presenter.ts';
import type { Service, ServiceChanges } from './schema.ts';
import { isOpen, type ServiceState, serviceOf, statesOf } from './state.ts';
import * as store from './store.ts';

/** A service, and whether the account may have it at all. */
export interface AvailableService extends ServiceState {
  available: boolean;
}

/** Which services an account may use. Its reseller and the platform administrator decide. */
export interface ClientServices {
  /** @throws NotFoundError */
  list(principal: Principal, clientId: number): Promise<Service[]>;
  /** @throws NotFoundError */
  get(principal: Principal, clientId: number, id: number): Promise<Service>;
  /**
   * Takes effect at once. @throws NotFoundError, InvalidError, ConflictError for the platform's own account
   */
  update(principal: Principal, clientId: number, id: number, changes: ServiceChanges): Promise<Service>;
  /** Returns the services of several accounts at once, for the clients feature. */
  ofClients(clientIds: readonly number[]): Promise<AvailableService[]>;
}

export function createClientServices(deps: {
  database: Database;
  clock: Clock;
  authenticator: Authenticator;
}): ClientServices {
  const { database, clock, authenticator } = deps;

  async function requireClient(principal: Principal, clientId: number): Promise<void> {
    const client = await findClient(database.sql, clientId);
    if (!client || !resells(principal, client)) throw new NotFoundError('Client', clientId);
    principal.writes?.concerns(clientId);
  }

  async function ofClients(clientIds: readonly number[], sql = database.sql): Promise<AvailableService[]> {
    const accounts = await store.findAccounts(sql, clientIds);
    const changed = grouped(await store.listChanged(sql, clientIds), ({ client_id }) => client_id);
    const decided = grouped(await availabilityOf(sql, clientIds), ({ client_id }) => client_id);
    return accounts.flatMap((account) =>
      statesOf(account, changed.get(account.id) ?? []).map((state) => ({
        ...state,
        available: (decided.get(account.id) ?? []).some(
          ({ product, available }) => available && product === state.service,
        ),
      })),
    );
  }

  async function found(clientId: number, id: number, sql = database.sql): Promise<ServiceState> {
    const state = serviceOf(clientId, id) && (await ofClients([clientId], sql)).find((one) => one.id === id);
    if (!state) throw new NotFoundError('Service', id);
    return state;
  }

  return {
    ofClients: (clientIds) => ofClients(clientIds),

    async list(principal, clientId) {
      await requireClient(principal, clientId);
      return (await ofClients([clientId])).map(presentedService);
    },

    async get(principal, clientId, id) {
      await requireClient(principal, clientId);
      return presentedService(await found(clientId, id));
    },

    async update(principal, clientId, id, changes) {
      await requireClient(principal, clientId);
      const ended = await database.accept(principal, async (tx) => {
        await lockManaged(tx, principal, clientId);
        const before = await found(clientId, id, tx.sql);
        const { status, enabled } = wantedOf(before, changes);
        const same = status === before.status;
        if (same && enabled === before.enabled) return { tokens: [], logins: [] };
        const service = await requireChangeable(tx, before, isOpen(status));
        await store.putService(tx.sql, {
          client_id: clientId,
          service,
          status,
          previous_status: same ? before.previousStatus : before.status,
          enabled,
          changed_at: same ? before.changedAt : clock.now(),
        });
        return announceClient(tx, clientId);
      });
      authenticator.forget(ended);
      return presentedService(await found(clientId, id));
    },
  };
}

/** The status implies whether the service is enabled, unless the request says so. */
function wantedOf(before: ServiceState, { status, enabled }: ServiceChanges) {
  const implied = status === undefined ? before.enabled : isOpen(status);
  return { status: status ?? before.status, enabled: enabled ?? implied };
}

async function requireChangeable(
  tx: Transaction,
  { clientId, service }: ServiceState,
  opening: boolean,
): Promise<OfferedService> {
  if (!isOffered(service)) {
    throw new InvalidError({ status: [`This platform does not offer ${service}.`] });
  }
  const [account] = await store.findAccounts(tx.sql, [clientId]);
  if (account?.status === 'paused') {
    throw new InvalidError({
      status: [
        'The whole account is suspended; resume it first, with POST /tradewind/v1/clients/{client_id}/resume.',
      ],
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
