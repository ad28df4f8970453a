import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { DdosProfileListQuery } from './schema.ts';

export type ProfileRow = Selectable<Tables['ddos_profiles']>;

function profiles(db: Sql, where: RawBuilder<boolean>) {
  return db.selectFrom('ddos_profiles').selectAll().where(where);
}

const ORDERS = {
  id: sql`id`,
  ip_address: sql`address`,
  status: sql`status`,
  // The same for all.
  managed_by: sql`null::text`,
  site: sql`null::text`,
};

/** `within` is an address or a network in canonical form. */
export async function listProfiles(
  db: Sql,
  place: Place,
  query: DdosProfileListQuery,
  within: string | undefined,
): Promise<Page<ProfileRow>> {
  let matching = profiles(db, isIn(place));
  if (within !== undefined) matching = matching.where(sql<boolean>`address <<= ${within}::inet`);
  if (query.managed_by && !query.managed_by.includes('user')) matching = matching.where(sql<boolean>`false`);
  const [column, direction] = orderOf(query.order_by ?? 'id.asc');
  return pageWithCount(matching.orderBy(ORDERS[column], direction).orderBy('id', direction), query);
}

export async function lockProfile(tx: Transaction, place: Place, id: number): Promise<ProfileRow | undefined> {
  return profiles(tx.sql, belongsTo(place)).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export async function insertProfile(tx: Transaction, profile: Insertable<Tables['ddos_profiles']>): Promise<number> {
  const { id } = await tx.sql.insertInto('ddos_profiles').values(profile).returning('id').executeTakeFirstOrThrow();
  return id;
}

export async function changeProfile(tx: Transaction, id: number, change: Updateable<Tables['ddos_profiles']>) {
  await tx.sql.updateTable('ddos_profiles').set(change).where('id', '=', id).execute();
}

export async function deleteProfile(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('ddos_profiles').where('id', '=', id).execute();
}

/** Deletes the profiles of addresses, and returns their IDs at the infrastructure. */
export async function deleteProfilesOf(tx: Transaction, addresses: readonly { subnet_id: string; address: string }[]) {
  const { rows } = await sql<{ id: string }>`
    delete from ddos_profiles where (subnet_id, address) in (
      select * from unnest(${addresses.map((one) => one.subnet_id)}::uuid[],
        ${addresses.map((one) => one.address)}::inet[]))
    returning want_id as id`.execute(tx.sql);
  return rows.map(({ id }) => id);
}

/** A public address of the project, and whether something answers at it. */
export interface PublicAddress {
  subnet_id: string;
  address: string;
  used: boolean;
}

/** Finds a public address of the project, and locks it: it can't be given back until the transaction ends. */
export async function lockPublicAddress(
  tx: Transaction,
  { projectId, regionId }: Place,
  address: string,
): Promise<PublicAddress | undefined> {
  const { rows } = await sql<PublicAddress>`
    select assigned.subnet_id, host(assigned.address) as address,
      coalesce(own.instance_id, own.load_balancer_id, led.instance_id, led.load_balancer_id) is not null as used
    from ip_assignments as assigned
    join subnets on subnets.id = assigned.subnet_id
    join networks on networks.id = subnets.network_id
    left join ports as own on own.id = assigned.port_id
    left join floating_ips on floating_ips.id = assigned.floating_ip_id
    left join ports as led on led.id = floating_ips.port_id
    where assigned.address = ${address}::inet and networks.external and networks.region_id = ${regionId}
      and coalesce(own.project_id, floating_ips.project_id) = ${projectId}
    for key share of assigned`.execute(tx.sql);
  return rows[0];
}
