import { type RawBuilder, type Selectable, sql } from 'kysely';
import { onlyChecked, type Place, type Sql, tagConditions } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { grouped } from '../../../lib/lists.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { AvailableNetworkQuery, NetworkListQuery, SubnetListQuery } from './schema.ts';

export type NetworkRow = Selectable<Tables['networks']> & { subnets: string[] };
export type SubnetRow = Selectable<Tables['subnets']> & {
  project_id: number | null;
  /** Whether a router is attached to it, or the platform routes it. */
  routed: boolean;
};

export interface NetworkWithSubnets {
  network: NetworkRow;
  subnets: SubnetRow[];
}

/** `any` includes the platform's networks. */
type OwnedBy = 'any' | 'project' | undefined;

function networks(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('networks')
    .selectAll('networks')
    .select(
      sql<string[]>`array(select subnets.id::text from subnets where network_id = networks.id
        order by subnets.created_at, subnets.cidr)`.as('subnets'),
    )
    .where(where);
}

/** External subnets keep no count of their own. */
const USED = sql<number>`case when networks.external
  then (select count(*) from ip_assignments where subnet_id = subnets.id) else subnets.used_ips end`;

function subnets(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('subnets')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .selectAll('subnets')
    .select(['networks.project_id', USED.as('used_ips')])
    .select(
      sql<boolean>`platform_routed and gateway_ip is not null
        or exists (select from router_interfaces where subnet_id = subnets.id)`.as('routed'),
    )
    .where(where);
}

function visible({ projectId, regionId }: Place, ownedBy: OwnedBy): RawBuilder<boolean> {
  const own = sql`networks.project_id = ${projectId}`;
  return sql`networks.region_id = ${regionId} and ${ownedBy === 'any' ? sql`(${own} or networks.external)` : own}`;
}

/** Like `belongsTo`, but the platform's networks are included. */
const isSeenIn = (place: Place): RawBuilder<boolean> => onlyChecked(visible(place, 'any'));

export async function findNetwork(db: Sql, place: Place, id: string): Promise<NetworkRow | undefined> {
  return networks(db, isSeenIn(place)).where('networks.id', '=', id).executeTakeFirst();
}

export async function findSubnet(db: Sql, place: Place, id: string): Promise<SubnetRow | undefined> {
  return subnets(db, isSeenIn(place)).where('subnets.id', '=', id).executeTakeFirst();
}

/** Returns the networks with these IDs that the project sees, with complete subnets. */
export async function findWithSubnets(db: Sql, place: Place, ids: string[]): Promise<NetworkWithSubnets[]> {
  const wanted = sql<boolean>`networks.id = any(${ids}::uuid[])`;
  return withSubnets(db, place, await networks(db, isSeenIn(place)).where(wanted).execute());
}

/** Lists networks of the project and the platform with complete subnets. */
export async function listWithSubnets(
  db: Sql,
  place: Place,
  query: AvailableNetworkQuery,
): Promise<Page<NetworkWithSubnets>> {
  const { count, rows } = await listNetworks(db, place, { ...query, owned_by: 'any' });
  return { count, rows: await withSubnets(db, place, rows) };
}

async function withSubnets(db: Sql, place: Place, found: NetworkRow[]): Promise<NetworkWithSubnets[]> {
  const ids = found.map(({ id }) => id);
  const within = await subnets(db, isSeenIn(place))
    .where(sql<boolean>`networks.id = any(${ids}::uuid[])`)
    .orderBy('subnets.created_at')
    .orderBy('subnets.cidr')
    .execute();
  const byNetwork = grouped(within, ({ network_id }) => network_id);
  return found.map((network) => ({ network, subnets: byNetwork.get(network.id) ?? [] }));
}

export async function listNetworks(
  db: Sql,
  place: Place,
  query: NetworkListQuery & Pick<AvailableNetworkQuery, 'network_id' | 'shared'>,
): Promise<Page<NetworkRow>> {
  let matching = networks(db, visible(place, query.owned_by)).where((eb) =>
    eb.and(tagConditions('networks.tags', query)),
  );
  if (query.name !== undefined) matching = matching.where('networks.name', '=', query.name);
  if (query.external !== undefined) matching = matching.where('networks.external', '=', query.external);
  if (query.network_id !== undefined) matching = matching.where('networks.id', '=', query.network_id);
  if (query.shared !== undefined) matching = matching.where('networks.shared', '=', query.shared);
  if (query.network_type !== undefined) {
    matching = matching.where(sql<boolean>`networks.type = ${query.network_type}`);
  }
  const [column, direction] = orderOf(query.order_by ?? 'created_at.desc');
  const ordered = matching
    .orderBy(`networks.${column === 'priority' ? 'is_default' : column}`, direction)
    .orderBy('networks.id', direction);
  return pageWithCount(ordered, query);
}

const SUBNET_ORDERS = {
  available_ips: sql`total_ips - ${USED}`,
  cidr: sql`cidr`,
  created_at: sql`subnets.created_at`,
  name: sql`subnets.name`,
  total_ips: sql`total_ips`,
  updated_at: sql`subnets.updated_at`,
};

export async function listSubnets(db: Sql, place: Place, query: SubnetListQuery): Promise<Page<SubnetRow>> {
  let matching = subnets(db, visible(place, query.owned_by)).where((eb) =>
    eb.and(tagConditions('subnets.tags', query)),
  );
  if (query.network_id !== undefined) matching = matching.where('network_id', '=', query.network_id);
  const [column, direction] = orderOf(query.order_by ?? 'cidr.asc');
  const ordered = matching.orderBy(SUBNET_ORDERS[column], direction).orderBy('subnets.id', direction);
  return pageWithCount(ordered, query);
}
