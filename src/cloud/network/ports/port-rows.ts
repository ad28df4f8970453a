import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import type { AddressPair } from '../../../db/json-columns.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { PortListQuery } from './schema.ts';

const COLUMNS = [
  'id',
  'name',
  'network_id',
  'instance_id',
  'mac_address',
  'port_security_enabled',
  'allowed_address_pairs',
  'is_vip',
  'task_id',
  'tags',
  'created_at',
  'updated_at',
] as const;

export type PortRow = Pick<Selectable<Tables['ports']>, (typeof COLUMNS)[number]> & {
  router_id: string | null;
  ip_assignments: { ip_address: string; subnet_id: string }[];
  /** Sorted. */
  security_group_ids: string[];
  /** The pool if the port belongs to a node. */
  pool_id: string | null;
};

/**
 * Selects ports with their addresses and groups in one query. Routers have theirs without any settings. The place is asked for
 * outside of the union: PostgreSQL takes nothing in the order of an index from a part that has a condition of its own.
 */
function ports(db: Sql, where: RawBuilder<boolean>) {
  const own = db
    .selectFrom('ports')
    .select(COLUMNS)
    .select([sql<string | null>`null::uuid`.as('router_id'), 'project_id', 'region_id']);
  const ofRouters = db
    .selectFrom('router_interfaces as one')
    .innerJoin('routers', 'routers.id', 'one.router_id')
    .innerJoin('subnets', 'subnets.id', 'one.subnet_id')
    .select([
      'one.port_id as id',
      'routers.name',
      'subnets.network_id',
      sql<string | null>`null::uuid`.as('instance_id'),
      'one.mac_address',
      sql<boolean>`false`.as('port_security_enabled'),
      sql<AddressPair[]>`'[]'::jsonb`.as('allowed_address_pairs'),
      sql<boolean>`false`.as('is_vip'),
      sql<string | null>`null::uuid`.as('task_id'),
      sql<Record<string, string>>`'{}'::jsonb`.as('tags'),
      'one.created_at',
      'routers.updated_at',
      'one.router_id',
      'routers.project_id',
      'routers.region_id',
    ]);
  return db
    .selectFrom(own.unionAll(ofRouters).as('ports'))
    .where(where)
    .select([...COLUMNS, 'router_id'])
    .select(
      sql<PortRow['ip_assignments']>`(
        select coalesce(json_agg(json_build_object('ip_address', host(address), 'subnet_id', subnet_id)
          order by subnet_id, address), '[]') from (${assignments(sql`port_id = ports.id`)}) as assigned)`.as(
        'ip_assignments',
      ),
    )
    .select(
      sql<string[]>`array(select security_group_id::text from port_security_groups
        where port_id = ports.id order by security_group_id)`.as('security_group_ids'),
    )
    .select((port) =>
      port.selectFrom('instances').select('pool_id').whereRef('instances.id', '=', 'ports.instance_id').as('pool_id'),
    );
}

/** Returns SQL for the addresses of ports, whoever has them. */
function assignments(where: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`
    select port_id, subnet_id, address from ip_assignments where ${where}
    union all select port_id, subnet_id, address from router_interfaces where ${where}`;
}

export async function findPort(db: Sql, place: Place, id: string): Promise<PortRow | undefined> {
  return ports(db, belongsTo(place)).where('ports.id', '=', id).executeTakeFirst();
}

export async function listPorts(db: Sql, place: Place, query: PortListQuery): Promise<Page<PortRow>> {
  let matching = ports(db, isIn(place));
  if (query.ids) matching = matching.where(sql<boolean>`ports.id = any(${query.ids}::uuid[])`);
  if (query.network_ids) matching = matching.where(sql<boolean>`network_id = any(${query.network_ids}::uuid[])`);
  if (query.subnet_ids) matching = matching.where(having(sql`subnet_id = any(${query.subnet_ids}::uuid[])`));
  if (query.ip_addresses) {
    matching = matching.where(having(sql`address = any(${query.ip_addresses}::inet[])`));
  }
  const [column, direction] = orderOf(query.order_by ?? 'created_at.desc');
  const ordered = matching.orderBy(`ports.${column}`, direction).orderBy('ports.id', direction);
  return pageWithCount(ordered, query, 100);
}

/** As an array, which is found first: joined with the ports, each would be compared with each address. */
const having = (where: RawBuilder<boolean>) =>
  sql<boolean>`ports.id = any(array(select port_id from (${assignments(where)}) as assigned))`;

/** Lists the ports of the project's instances in a network, oldest first. */
export async function portsOfNetwork(db: Sql, place: Place, networkId: string) {
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
  if (place) port = port.where(belongsTo(place));
  return (await port.forNoKeyUpdate().executeTakeFirst()) !== undefined;
}

export async function changePort(tx: Transaction, id: string, change: Updateable<Tables['ports']>): Promise<void> {
  await tx.sql.updateTable('ports').set(change).where('id', '=', id).execute();
}

/** @throws ConflictError naming a floating IP of an address that the port would lose. The port must be locked. */
export async function refuseLosing(tx: Transaction, portId: string, addresses: string[]): Promise<void> {
  if (addresses.length === 0) return;
  const leading = await tx.sql
    .selectFrom('floating_ips')
    .select(['id', 'fixed_address'])
    .where('port_id', '=', portId)
    .orderBy('address')
    .execute();
  const other = leading.find((one) => one.fixed_address !== null && addresses.includes(one.fixed_address));
  if (other) {
    throw new ConflictError(
      `Floating IP ${other.id} is assigned to address ${other.fixed_address} of port ${portId}; unassign it first`,
    );
  }
}
