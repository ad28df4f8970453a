import type { Selectable } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { ServiceStatus } from '../accounts/schema.ts';
import { isOffered, SERVICES, type ServiceName } from '../accounts/schema.ts';

export interface ServiceState {
  id: number;
  clientId: number;
  service: ServiceName;
  status: ServiceStatus;
  previousStatus: ServiceStatus;
  enabled: boolean;
  changedAt: Date;
  startedAt: Date;
}

export type AccountOfServices = Pick<Selectable<Tables['clients']>, 'id' | 'status' | 'created_at'>;
export type ChangedService = Selectable<Tables['client_services']>;

/** There are six services, so the id of each follows from its account's id. */
const NUMBERS_OF_ONE = 10;

export function serviceOf(clientId: number, id: number): ServiceName | undefined {
  return Math.floor(id / NUMBERS_OF_ONE) === clientId ? SERVICES[(id % NUMBERS_OF_ONE) - 1] : undefined;
}

export function isOpen(status: ServiceStatus): boolean {
  return status === 'active' || status === 'trial';
}

/**
 * Returns all services of an account. Offered services are active unless they are among its `changed` ones; a
 * paused account has none.
 */
export function statesOf(account: AccountOfServices, changed: readonly ChangedService[]): ServiceState[] {
  return SERVICES.map((service, index) => {
    const of = { id: account.id * NUMBERS_OF_ONE + index + 1, clientId: account.id, service };
    const made = { changedAt: account.created_at, startedAt: account.created_at };
    const none = { status: 'new', previousStatus: 'new', enabled: false } as const;
    if (!isOffered(service)) return { ...of, ...made, ...none };
    const row = changed.find((one) => one.service === service);
    const own: ServiceState = {
      ...of,
      ...made,
      status: row?.status ?? 'active',
      previousStatus: row?.previous_status ?? 'new',
      enabled: row?.enabled ?? true,
      ...(row && { changedAt: row.changed_at }),
    };
    if (account.status === 'active' || own.status === 'paused') return own;
    return { ...own, status: 'paused', previousStatus: own.status, enabled: false };
  });
}
