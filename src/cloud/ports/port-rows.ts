import { type Selectable, sql, type Updateable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Sql, Transaction } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import { isIn, type Place } from '../../db/place.ts';
import type { Tables } from '../../db/tables.ts';
import { orderOf } from '../../lib/order.ts';
import type { Page } from '../../lib/page.ts';
import type { PortListQuery } from './schema.ts';

export type PortRow = Selectable<Tables['ports']> & {
  ip_assignments: { ip_address: string; subnet_id: string }[];
  /** Sorted. */
  security_group_ids: string[];
  /** The pool if the port belongs to a node. */
  pool_id: string | null;
};

/** Selects ports with their addresses and groups in one query. */
function ports(db: Sql, place: Place) {
  return db
    .selectFrom('ports')
    .selectAll('ports')
    .select((port) =>
      jsonArrayFrom(
        port
          .selectFrom('ip_assignments')
          .select([sql<string>`host(address)`.as('ip_address'), 'subnet_id'])
          .whereRef('port_id', '=', 'ports.id')
          .orderBy('subnet_id')
          .orderBy('address'),
      ).as('ip_assignments'),
    )
    .select(
      sql<string[]>`array(select security_group_id::text from port_security_groups
        where port_id = ports.id order by security_group_id)`.as('security_group_ids'),
    )
    .select((port) =>
      port
        .selectFrom('instances')
        .select('pool_id')
        .whereRef('instances.id', '=', 'ports.instance_id')
        .as('pool_id'),
    )
    .where(isIn(place, 'ports'));
}

export async function findPort(db: Sql, place: Place, id: string): Promise<PortRow | undefined> {
  return ports(db, place).where('ports.id', '=', id).executeTakeFirst();
}

export async function listPorts(db: Sql, place: Place, query: PortListQuery): Promise<Page<PortRow>> {
  let matching = ports(db, place);
  if (query.ids) matching = matching.where(sql<boolean>`ports.id = any(${query.ids}::uuid[])`);
  if (query.network_ids)
    matching = matching.where(sql<boolean>`network_id = any(${query.network_ids}::uuid[])`);
  if (query.subnet_ids) {
    matching = matching.where(sql<boolean>`exists (
      select from ip_assignments where port_id = ports.id and subnet_id = any(${query.subnet_ids}::uuid[]))`);
  }
  if (query.ip_addresses) {
    matching = matching.where(sql<boolean>`exists (
      select from ip_assignments where port_id = ports.id and address = any(${query.ip_addresses}::inet[]))`);
  }
  const [column, direction] = orderOf(query.order_by ?? 'created_at.desc');
  const ordered = matching.orderBy(`ports.${column}`, direction).orderBy('ports.id', direction);
  return pageWithCount(ordered, query, 100);
}

/** Lists the ports of the project's instances in a network, oldest first. */
export async function portsOfNetwork(
  db: Sql,
  place: Place,
  networkId: string,
): Promise<{ id: string; instance_id: string; instance_name: string }[]> {
  return db
    .selectFrom('ports')
    .innerJoin('instances', 'instances.id', 'ports.instance_id')
    .select(['ports.id', 'instances.id as instance_id', 'instances.name as instance_name'])
    .where('ports.network_id', '=', networkId)
    .where(isIn(place, 'ports'))
    .orderBy('ports.created_at')
    .orderBy('ports.id')
    .execute();
}

/** Locks the port against other changes until the transaction ends. False if it doesn't exist. */
export async function lockPort(tx: Transaction, id: string, place?: Place): Promise<boolean> {
  let port = tx.sql.selectFrom('ports').select('id').where('id', '=', id);
  if (place) port = port.where(isIn(place));
  return (await port.forNoKeyUpdate().executeTakeFirst()) !== undefined;
}

export async function changePort(
  tx: Transaction,
  id: string,
  change: Updateable<Tables['ports']>,
): Promise<void> {
  await tx.sql.updateTable('ports').set(change).where('id', '=', id).execute();
}
