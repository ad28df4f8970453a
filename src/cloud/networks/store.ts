import { type Selectable, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { tagConditions } from '../../db/tag-conditions.ts';
import type { Place } from '../projects/place.ts';

export type NetworkRow = Selectable<Tables['networks']> & { subnets: string[] };
export type SubnetRow = Selectable<Tables['subnets']> & { project_id: number | null };

interface Page {
  limit: number;
  offset: number;
}
interface Owned {
  /** `any` takes the platform's networks too. */
  ownedBy: 'any' | 'project';
  tagKeys: string[];
  tags: Record<string, string>;
}
export interface NetworkFilter extends Page, Owned {
  name?: string | undefined;
  external?: boolean | undefined;
  type?: string | undefined;
  order: { column: 'created_at' | 'name' | 'is_default'; direction: 'asc' | 'desc' };
}
export interface SubnetFilter extends Page, Owned {
  networkId?: string | undefined;
  order: {
    column: 'available_ips' | 'cidr' | 'created_at' | 'name' | 'total_ips' | 'updated_at';
    direction: 'asc' | 'desc';
  };
}

function networks(db: Sql, place: Place, ownedBy: 'any' | 'project') {
  return db
    .selectFrom('networks')
    .selectAll('networks')
    .select(
      sql<string[]>`array(select subnets.id::text from subnets where network_id = networks.id
        order by subnets.created_at, subnets.cidr)`.as('subnets'),
    )
    .where('networks.region_id', '=', place.regionId)
    .where(visible(place, ownedBy));
}

function subnets(db: Sql, place: Place, ownedBy: 'any' | 'project') {
  return db
    .selectFrom('subnets')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .selectAll('subnets')
    .select('networks.project_id')
    .where('networks.region_id', '=', place.regionId)
    .where(visible(place, ownedBy));
}

function visible(place: Place, ownedBy: 'any' | 'project') {
  return ownedBy === 'any'
    ? sql<boolean>`(networks.project_id = ${place.projectId} or networks.external)`
    : sql<boolean>`networks.project_id = ${place.projectId}`;
}

export async function findNetwork(db: Sql, place: Place, id: string): Promise<NetworkRow | undefined> {
  return networks(db, place, 'any').where('networks.id', '=', id).executeTakeFirst();
}

export async function findSubnet(db: Sql, place: Place, id: string): Promise<SubnetRow | undefined> {
  return subnets(db, place, 'any').where('subnets.id', '=', id).executeTakeFirst();
}

/** Those of the ids that the project sees, with their whole subnets in order of age. */
export async function findWithSubnets(
  db: Sql,
  place: Place,
  ids: string[],
): Promise<{ network: NetworkRow; subnets: SubnetRow[] }[]> {
  const wanted = sql<boolean>`networks.id = any(${ids}::uuid[])`;
  const found = await networks(db, place, 'any').where(wanted).execute();
  const within = await subnets(db, place, 'any')
    .where(wanted)
    .orderBy('subnets.created_at')
    .orderBy('subnets.cidr')
    .execute();
  return found.map((network) => ({
    network,
    subnets: within.filter((subnet) => subnet.network_id === network.id),
  }));
}

export async function listNetworks(
  db: Sql,
  place: Place,
  filter: NetworkFilter,
): Promise<{ count: number; rows: NetworkRow[] }> {
  let matching = networks(db, place, filter.ownedBy).where((eb) =>
    eb.and(tagConditions('networks.tags', filter)),
  );
  if (filter.name !== undefined) matching = matching.where('networks.name', '=', filter.name);
  if (filter.external !== undefined) matching = matching.where('networks.external', '=', filter.external);
  if (filter.type !== undefined) matching = matching.where(sql<boolean>`networks.type = ${filter.type}`);
  const ordered = matching
    .orderBy(`networks.${filter.order.column}`, filter.order.direction)
    .orderBy('networks.id', filter.order.direction);
  return pageWithCount(ordered, filter);
}

const SUBNET_ORDERS = {
  available_ips: sql`total_ips - used_ips`,
  cidr: sql`cidr`,
  created_at: sql`subnets.created_at`,
  name: sql`subnets.name`,
  total_ips: sql`total_ips`,
  updated_at: sql`subnets.updated_at`,
};

export async function listSubnets(
  db: Sql,
  place: Place,
  filter: SubnetFilter,
): Promise<{ count: number; rows: SubnetRow[] }> {
  let matching = subnets(db, place, filter.ownedBy).where((eb) =>
    eb.and(tagConditions('subnets.tags', filter)),
  );
  if (filter.networkId !== undefined) matching = matching.where('network_id', '=', filter.networkId);
  const ordered = matching
    .orderBy(SUBNET_ORDERS[filter.order.column], filter.order.direction)
    .orderBy('subnets.id', filter.order.direction);
  return pageWithCount(ordered, filter);
}
