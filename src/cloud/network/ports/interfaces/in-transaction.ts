import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Sql, Transaction } from '../../../../db/database.ts';
import type { AddressPair } from '../../../../db/json-columns.ts';
import { pageWithCount } from '../../../../db/page.ts';
import { canonicalAddress } from '../../../../lib/cidr.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { isUuid, refuseHeld } from '../../../../lib/ids.ts';
import type { Page, PageQuery } from '../../../../lib/page.ts';
import { freeReserved } from '../reserved/in-transaction.ts';

/* Ports as they are attached to an instance and detached. The caller locks the instance. */

/** Returns the position of the next interface. @throws ConflictError if the instance already has `most` of them */
export async function nextPlace(tx: Transaction, instanceId: string, most: number): Promise<number> {
  const { count, next } = await interfacePlaces(tx, instanceId);
  if (count < most) return next;
  throw new ConflictError(
    `Instance ${instanceId} already has ${count} interfaces, and the maximum is ${most}; detach one first`,
  );
}

/** Holds the port with the address for its removal. @throws InvalidError, ConflictError while a task holds it */
export async function hold(
  tx: Transaction,
  instanceId: string,
  { port_id: portId, ip_address: text }: { port_id: string; ip_address: string },
  taskId: string,
): Promise<{ id: string; reserved: boolean }> {
  const address = canonicalAddress(text)?.address;
  if (address === undefined) throw new InvalidError({ ip_address: [`${text} is not an IP address.`] });
  const port = isUuid(portId) ? await lockInterface(tx, instanceId, portId, address) : undefined;
  if (!port) {
    throw new InvalidError({ port_id: [`The instance has no port ${portId} with address ${text}.`] });
  }
  refuseHeld(`Port ${port.id}`, port);
  await holdPort(tx, port.id, taskId);
  return port;
}

export async function free(tx: Transaction, portId: string): Promise<void> {
  await holdPort(tx, portId, null);
}

/** Detaches the port. Keeps a reserved port, deletes any other and returns true: the caller releases its addresses. */
export async function remove(tx: Transaction, taskId: string, portId: string): Promise<boolean> {
  const port = await lockKind(tx, portId);
  if (port?.reserved) await freeReserved(tx, taskId, [portId]);
  else if (port) await deletePort(tx, portId);
  return port !== undefined && !port.reserved;
}

/** A port of an instance, as the instance sees it. */
export interface InterfaceRow {
  id: string;
  network_id: string;
  mac_address: string;
  interface_name: string | null;
  port_security_enabled: boolean;
  allowed_address_pairs: AddressPair[];
  ip_assignments: { ip_address: string; subnet_id: string }[];
}

function interfaces(db: Sql) {
  return db
    .selectFrom('ports')
    .select(['id', 'network_id', 'mac_address', 'interface_name'])
    .select(['port_security_enabled', 'allowed_address_pairs'])
    .select((port) =>
      jsonArrayFrom(
        port
          .selectFrom('ip_assignments')
          .select(sql<string>`host(address)`.as('ip_address'))
          .select('subnet_id')
          .whereRef('port_id', '=', 'ports.id')
          .orderBy('address'),
      ).as('ip_assignments'),
    );
}

/** Lists interfaces in the instance's order. */
export async function listInterfaces(db: Sql, instanceId: string, page: PageQuery): Promise<Page<InterfaceRow>> {
  return pageWithCount(interfaces(db).where('instance_id', '=', instanceId).orderBy('position'), page);
}

export async function interfaceOf(tx: Transaction, portId: string): Promise<InterfaceRow> {
  return interfaces(tx.sql).where('id', '=', portId).executeTakeFirstOrThrow();
}

/** Returns the number of interfaces and the next position. The instance must be locked. */
export async function interfacePlaces(tx: Transaction, instanceId: string): Promise<{ count: number; next: number }> {
  return tx.sql
    .selectFrom('ports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
    .where('instance_id', '=', instanceId)
    .executeTakeFirstOrThrow();
}

/** Locks the instance's port with the address and returns it. */
export async function lockInterface(tx: Transaction, instanceId: string, portId: string, address: string) {
  return tx.sql
    .selectFrom('ports')
    .select(['id', 'task_id', 'reserved'])
    .where('id', '=', portId)
    .where('instance_id', '=', instanceId)
    .where(sql<boolean>`exists (select from ip_assignments where port_id = ports.id and address = ${address}::inet)`)
    .forUpdate()
    .executeTakeFirst();
}

export async function holdPort(tx: Transaction, portId: string, taskId: string | null): Promise<void> {
  await tx.sql.updateTable('ports').set({ task_id: taskId }).where('id', '=', portId).execute();
}

/** Locks the port. Returns whether it is reserved; undefined if it doesn't exist. */
export async function lockKind(tx: Transaction, portId: string): Promise<{ reserved: boolean } | undefined> {
  return tx.sql.selectFrom('ports').select('reserved').where('id', '=', portId).forUpdate().executeTakeFirst();
}

/** Deletes the port with its assigned groups. */
export async function deletePort(tx: Transaction, portId: string): Promise<void> {
  await tx.sql.deleteFrom('ports').where('id', '=', portId).execute();
}
