import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../lib/errors.ts';
import { type Place, placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import { refuseHeld } from '../tasks/held.ts';

/** A port that is kept for its address, free for an instance. */
export interface ReservedPort {
  id: string;
  networkId: string;
  external: boolean;
  securityEnabled: boolean;
  subnetId: string;
  address: string;
}

/** What an interface asks for; `field` is where the request says so. */
export interface ReservedPortWish {
  portId: string;
  field: string;
}

/**
 * The ports asked for, by id, locked until the transaction ends.
 * @throws InvalidError for one that isn't there, ConflictError for one that an instance has or a task holds
 */
export async function lockReserved(
  tx: Transaction,
  scope: Scope,
  wishes: ReservedPortWish[],
): Promise<Map<string, ReservedPort>> {
  if (wishes.length === 0) return new Map();
  const rows = await lockedRows(
    tx,
    placeOf(scope),
    wishes.map(({ portId }) => portId),
  );
  const problems = wishes.flatMap(({ portId, field }, index): FieldProblem[] => {
    if (!rows.some((row) => row.id === portId)) {
      return [{ field, message: `No reserved address with port ${portId} in this project and region.` }];
    }
    const twice = wishes.findIndex((one) => one.portId === portId) < index;
    return twice ? [{ field, message: `Port ${portId} is named twice.` }] : [];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  for (const row of rows) {
    refuseHeld(`Port ${row.id}`, row);
    if (row.instance_id !== null) {
      throw new ConflictError(
        `Port ${row.id} is attached to instance ${row.instance_id} already; detach it there first`,
      );
    }
  }
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        networkId: row.network_id,
        external: row.external,
        securityEnabled: row.port_security_enabled,
        subnetId: row.subnet_id,
        address: row.address,
      },
    ]),
  );
}

async function lockedRows(tx: Transaction, place: Place, ids: string[]) {
  // A port has an address at all times: an update that leaves none is refused.
  return tx.sql
    .selectFrom('ports')
    .innerJoin('networks', 'networks.id', 'ports.network_id')
    .select(['ports.id', 'ports.network_id', 'ports.instance_id', 'ports.task_id', 'external'])
    .select('ports.port_security_enabled')
    .select(firstAddress('host(address)').as('address'))
    .select(firstAddress('subnet_id').as('subnet_id'))
    .where(sql<boolean>`ports.id = any(${ids}::uuid[])`)
    .where('ports.reserved', '=', true)
    .where('ports.project_id', '=', place.projectId)
    .where('ports.region_id', '=', place.regionId)
    .orderBy('ports.id')
    .forUpdate('ports')
    .execute();
}

const firstAddress = (column: string) =>
  sql<string>`(select ${sql.raw(column)} from ip_assignments where port_id = ports.id order by address limit 1)`;

/** Gives reserved ports to an instance, each at its place among the interfaces. They must be locked. */
export async function attachReserved(
  tx: Transaction,
  instanceId: string,
  ports: { id: string; interfaceName: string | null; position: number; taskId: string | null }[],
  now: Date,
): Promise<void> {
  for (const { id, interfaceName, position, taskId } of ports) {
    await tx.sql.deleteFrom('port_security_groups').where('port_id', '=', id).execute();
    await tx.sql
      .updateTable('ports')
      .set({
        instance_id: instanceId,
        interface_name: interfaceName,
        position,
        task_id: taskId,
        updated_at: now,
      })
      .where('id', '=', id)
      .execute();
  }
}

/**
 * No instance has them any more, and they are reserved still. Their groups were the instance's. The task holds them no
 * longer; a port that another one holds stays held.
 */
export async function freeReserved(
  tx: Transaction,
  taskId: string,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.sql
    .deleteFrom('port_security_groups')
    .where(sql<boolean>`port_id = any(${ids}::uuid[])`)
    .execute();
  await tx.sql
    .updateTable('ports')
    .set({ instance_id: null, interface_name: null, position: 0, updated_at: now })
    .set({ task_id: sql`nullif(task_id, ${taskId})` })
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
}

/** The ports of an instance, locked in one order. */
export async function lockPortsOf(
  tx: Transaction,
  instanceId: string,
): Promise<{ id: string; reserved: boolean; task_id: string | null }[]> {
  return tx.sql
    .selectFrom('ports')
    .select(['id', 'reserved', 'task_id'])
    .where('instance_id', '=', instanceId)
    .orderBy('id')
    .forUpdate()
    .execute();
}
