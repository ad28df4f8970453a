import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { AddressWish } from '../networks/address-wish.ts';
import type { Addresses } from '../networks/addresses.ts';
import { placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import { takeQuota } from '../quotas/quotas.ts';
import { refuseHeld } from '../tasks/held.ts';
import type { Tasks } from '../tasks/service.ts';
import type { CreateReservedFixedIp } from './schema.ts';
import * as store from './store.ts';
import { DEADLINE_MS, FREE_ADDRESS, RESERVE_ADDRESS, type ReservedInput } from './workflow.ts';

/** Ports that are kept for their address, whether or not an instance has them. */
export interface ReservedFixedIps {
  /**
   * Takes an address, which can be read at once; answers the id of the task that makes its port.
   * @throws InvalidError, ConflictError when the address is taken or none is left, QuotaExceededError
   */
  create(scope: Scope, request: CreateReservedFixedIp): Promise<string>;
  list(scope: Scope, filter: store.ReservedFilter): Promise<{ count: number; rows: store.ReservedRow[] }>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.ReservedRow>;
  /** Answers the task that gives it back. @throws NotFoundError, ConflictError while an instance or a task has it */
  delete(scope: Scope, id: string): Promise<string>;
}

export function createReservedFixedIps(deps: {
  database: Database;
  clock: Clock;
  tasks: Tasks;
  addresses: Pick<Addresses, 'take'>;
}): ReservedFixedIps {
  const { database, clock, tasks, addresses } = deps;

  return {
    async create(scope, request) {
      const problems = requestProblems(request);
      if (problems.length > 0) throw new InvalidError(problems);
      const [id, taskId] = [randomUUID(), randomUUID()];
      return database.accept(scope.principal, async (tx) => {
        const wish = { holder: { port: id }, field: '', from: wishedFrom(request) };
        const [taken] = await addresses.take(tx, scope, [wish]);
        if (!taken) throw new TypeError('one wish has one answer');
        const port = { id, networkId: taken.networkId };
        await store.insertReserved(tx, placeOf(scope), port, taskId, clock.now());
        await start(tx, scope, RESERVE_ADDRESS, taskId, request, id);
        await takeQuota(tx, scope, 'reserved_fixed_ip_count');
        return taskId;
      });
    },

    list: (scope, filter) => store.listReserved(database.sql, placeOf(scope), filter),

    async get(scope, id) {
      const row = isUuid(id) ? await store.findReserved(database.sql, placeOf(scope), id) : undefined;
      if (!row) throw new NotFoundError('Reserved fixed IP', id);
      return row;
    },

    delete: (scope, id) =>
      database.accept(scope.principal, async (tx) => {
        const port = isUuid(id) ? await store.lockReservedPort(tx, placeOf(scope), id) : undefined;
        if (!port) throw new NotFoundError('Reserved fixed IP', id);
        refuseHeld(`Reserved fixed IP ${port.id}`, port);
        if (port.instance_id !== null) {
          throw new ConflictError(
            `Reserved fixed IP ${port.id} is attached to instance ${port.instance_id}; detach it there first`,
          );
        }
        const taskId = randomUUID();
        await store.holdReserved(tx, port.id, taskId);
        return start(tx, scope, FREE_ADDRESS, taskId, { port_id: port.id }, port.id);
      }),
  };

  function start(tx: Transaction, scope: Scope, type: string, taskId: string, data: object, portId: string) {
    const input: ReservedInput = { portId, clientId: scope.clientId, regionId: scope.region.id };
    return tasks.start(tx, scope, { id: taskId, type, data, input, deadlineMs: DEADLINE_MS });
  }
}

function requestProblems(request: CreateReservedFixedIp): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (request.is_vip) {
    problems.push({ field: 'is_vip', message: 'Virtual addresses are not offered; leave it out.' });
  }
  if ('ip_family' in request && (request.ip_family ?? 'ipv4') !== 'ipv4') {
    const message = 'Only IPv4 is offered; for an IPv6 address name its subnet.';
    problems.push({ field: 'ip_family', message });
  }
  return problems;
}

function wishedFrom(request: CreateReservedFixedIp): AddressWish['from'] {
  switch (request.type) {
    case 'external':
      return { kind: 'external' };
    case 'subnet':
      return { kind: 'subnet', subnetId: request.subnet_id };
    case 'any_subnet':
      return { kind: 'any-subnet', networkId: request.network_id };
    case 'ip_address':
      return { kind: 'any-subnet', networkId: request.network_id, address: request.ip_address };
  }
}
