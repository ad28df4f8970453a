import { type Kysely, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Transaction } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Place } from '../projects/place.ts';

/** A port of an instance, as the instance sees it. */
export interface InterfaceRow {
  id: string;
  network_id: string;
  mac_address: string;
  interface_name: string | null;
  port_security_enabled: boolean;
  allowed_address_pairs: { ip_address: string }[];
  ip_assignments: { ip_address: string; subnet_id: string }[];
}

export interface NewInterfacePort {
  id: string;
  instanceId: string;
  networkId: string;
  interfaceName: string | null;
  taskId: string;
}

/** In the order of the instance's interfaces. */
export async function listInterfaces(
  db: Kysely<Tables>,
  instanceId: string,
  page: { limit: number; offset: number },
): Promise<{ count: number; rows: InterfaceRow[] }> {
  const ordered = db
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
    )
    .where('instance_id', '=', instanceId)
    .orderBy('position');
  return pageWithCount(ordered, page);
}

/** How many there are, and the first place after them. The instance must be locked. */
export async function interfacePlaces(
  tx: Transaction,
  instanceId: string,
): Promise<{ count: number; next: number }> {
  return tx.sql
    .selectFrom('ports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
    .where('instance_id', '=', instanceId)
    .executeTakeFirstOrThrow();
}

export async function insertInterface(
  tx: Transaction,
  place: Place,
  port: NewInterfacePort,
  position: number,
  now: Date,
): Promise<void> {
  await tx.sql
    .insertInto('ports')
    .values({
      id: port.id,
      network_id: port.networkId,
      project_id: place.projectId,
      region_id: place.regionId,
      instance_id: port.instanceId,
      name: `port-${port.id}`,
      interface_name: port.interfaceName,
      position,
      port_security_enabled: true,
      task_id: port.taskId,
      tags: JSON.stringify({}),
      created_at: now,
      updated_at: now,
    })
    .execute();
}

/** The instance's port with the address, locked. */
export async function lockInterface(
  tx: Transaction,
  instanceId: string,
  portId: string,
  address: string,
): Promise<{ id: string; task_id: string | null } | undefined> {
  return tx.sql
    .selectFrom('ports')
    .select(['id', 'task_id'])
    .where('id', '=', portId)
    .where('instance_id', '=', instanceId)
    .where(
      sql<boolean>`exists (select from ip_assignments where port_id = ports.id and address = ${address}::inet)`,
    )
    .forUpdate()
    .executeTakeFirst();
}

export async function holdPort(tx: Transaction, portId: string, taskId: string | null): Promise<void> {
  await tx.sql.updateTable('ports').set({ task_id: taskId }).where('id', '=', portId).execute();
}

/** Its groups go with it. */
export async function deletePort(tx: Transaction, portId: string): Promise<void> {
  await tx.sql.deleteFrom('ports').where('id', '=', portId).execute();
}
