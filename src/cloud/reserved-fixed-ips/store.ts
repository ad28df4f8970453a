import { type Kysely, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Transaction } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { Place } from '../projects/place.ts';

export type ReservedRow = Selectable<Tables['ports']> & {
  external: boolean;
  addresses: { address: string; subnet_id: string }[];
};

export interface ReservedFilter {
  external?: boolean | undefined;
  onlyAvailable: boolean;
  none: boolean;
  instanceId?: string | undefined;
  addressPart?: string | undefined;
  limit: number;
  offset: number;
}

/** Reserved ports with their addresses, in one query. */
function reserved(db: Kysely<Tables>, place: Place) {
  return db
    .selectFrom('ports')
    .innerJoin('networks', 'networks.id', 'ports.network_id')
    .selectAll('ports')
    .select('external')
    .select((port) =>
      jsonArrayFrom(
        port
          .selectFrom('ip_assignments')
          .select([sql<string>`host(address)`.as('address'), 'subnet_id'])
          .whereRef('port_id', '=', 'ports.id')
          .orderBy('address'),
      ).as('addresses'),
    )
    .where('ports.reserved', '=', true)
    .where('ports.project_id', '=', place.projectId)
    .where('ports.region_id', '=', place.regionId);
}

export async function findReserved(
  db: Kysely<Tables>,
  place: Place,
  id: string,
): Promise<ReservedRow | undefined> {
  return reserved(db, place).where('ports.id', '=', id).executeTakeFirst();
}

export async function listReserved(
  db: Kysely<Tables>,
  place: Place,
  filter: ReservedFilter,
): Promise<{ count: number; rows: ReservedRow[] }> {
  let matching = reserved(db, place);
  if (filter.none) matching = matching.where(sql<boolean>`false`);
  if (filter.external !== undefined) matching = matching.where('external', '=', filter.external);
  if (filter.onlyAvailable) matching = matching.where('ports.instance_id', 'is', null);
  if (filter.instanceId !== undefined) {
    matching = matching.where(sql<boolean>`ports.instance_id::text = lower(${filter.instanceId})`);
  }
  if (filter.addressPart !== undefined) {
    matching = matching.where(sql<boolean>`exists (
      select from ip_assignments
      where port_id = ports.id and position(${filter.addressPart} in host(address)) > 0)`);
  }
  return pageWithCount(matching.orderBy('ports.created_at', 'desc').orderBy('ports.id', 'desc'), filter);
}

export async function lockReservedPort(
  tx: Transaction,
  place: Place,
  id: string,
): Promise<Selectable<Tables['ports']> | undefined> {
  return tx.sql
    .selectFrom('ports')
    .selectAll()
    .where('id', '=', id)
    .where('reserved', '=', true)
    .where('project_id', '=', place.projectId)
    .where('region_id', '=', place.regionId)
    .forUpdate()
    .executeTakeFirst();
}

export async function insertReserved(
  tx: Transaction,
  place: Place,
  port: { id: string; networkId: string },
  taskId: string,
  now: Date,
): Promise<void> {
  await tx.sql
    .insertInto('ports')
    .values({
      id: port.id,
      network_id: port.networkId,
      project_id: place.projectId,
      region_id: place.regionId,
      instance_id: null,
      name: `port-${port.id}`,
      interface_name: null,
      position: 0,
      port_security_enabled: true,
      reserved: true,
      tags: JSON.stringify({}),
      creator_task_id: taskId,
      task_id: taskId,
      created_at: now,
      updated_at: now,
    })
    .execute();
}

export async function holdReserved(tx: Transaction, id: string, taskId: string | null): Promise<void> {
  await tx.sql.updateTable('ports').set({ task_id: taskId }).where('id', '=', id).execute();
}

/** False when it isn't there. */
export async function deleteReserved(tx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql.deleteFrom('ports').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
