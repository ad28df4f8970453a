import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Place, Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import type { IpFamily } from '../../../lib/cidr.ts';
import { protectNoLonger } from '../ddos/service.ts';

export type KnownSubnet = Pick<
  Selectable<Tables['subnets']>,
  'cidr' | 'id' | 'network_id' | 'first_address' | 'last_address'
> & { family: IpFamily; external: boolean; available: number };

/** Higher counts don't matter: the count only decides which of several subnets has more room. */
const PLENTY = Number.MAX_SAFE_INTEGER;
const FAMILY = sql<IpFamily>`case family(cidr) when 4 then 'IPv4' else 'IPv6' end`;

/** The external subnets that can fulfil the wishes. Nobody locks them to take an address: see `takeOutside`. */
export async function externalSubnets(tx: Transaction, place: Place, wishes: AddressSource[]): Promise<KnownSubnet[]> {
  return candidates(tx, place, wishes).where('external', '=', true).execute();
}

/** Locks the project's own subnets that can fulfil the wishes, always in the same order to avoid deadlocks. */
export async function lockSubnets(tx: Transaction, place: Place, wishes: AddressSource[]): Promise<KnownSubnet[]> {
  return candidates(tx, place, wishes).where('external', '=', false).forNoKeyUpdate('subnets').execute();
}

function candidates(tx: Transaction, place: Place, wishes: AddressSource[]) {
  const subnetIds = wishes.flatMap((wish) => (wish.kind === 'subnet' ? wish.subnetId : []));
  const networks = wishes.flatMap((wish) => (wish.kind === 'any-subnet' ? wish : []));
  const outside = wishes.flatMap((wish) => (wish.kind === 'external' ? wish.family : []));
  return tx.sql
    .selectFrom('subnets')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .select(['subnets.id', 'network_id', 'cidr', 'first_address', 'last_address', 'external'])
    .select(FAMILY.as('family'))
    .select(sql<number>`least(total_ips - used_ips, ${PLENTY}::bigint)::bigint`.as('available'))
    .where('networks.region_id', '=', place.regionId)
    .where(({ or, eb }) => or([eb('networks.project_id', '=', place.projectId), eb('networks.external', '=', true)]))
    .where(
      // Each branch begins with a condition that has an index.
      sql<boolean>`(subnets.id = any(${subnetIds}::uuid[])
        or network_id = any(${networks.map((one) => one.networkId)}::uuid[]) and (network_id, ${FAMILY}) in (
          select * from unnest(${networks.map((one) => one.networkId)}::uuid[],
            ${networks.map((one) => one.family)}::text[]))
        or network_id = any(array(
          select id from networks where region_id = ${place.regionId} and external and ${outside.length > 0}
        )) and ${FAMILY} = any(${outside}::text[]))`,
    )
    .where('subnets.ready', '=', true)
    .orderBy('subnets.id');
}

/**
 * Returns the lowest free addresses of each subnet from `from` on, as many as requested or as there are. The caller
 * also takes `besides`. The subnets must be locked.
 */
export async function lowestFree(
  tx: Transaction,
  amounts: Map<string, number>,
  besides: { subnetId: string; address: string }[],
  from = sql`subnets.free_from`,
): Promise<Map<string, string[]>> {
  const free = new Map<string, string[]>();
  if (amounts.size === 0) return free;
  // There is a gap between each taken address and the next; the end of the pool closes the last gap. A gap in IPv6 may
  // be larger than any number type, so it is only measured where it is shorter than the wanted amount.
  const { rows } = await sql<{ id: string; address: string }>`
    select subnets.id, free.address
    from unnest(${[...amounts.keys()]}::uuid[], ${[...amounts.values()]}::int[]) as wanted (subnet_id, amount)
    join subnets on subnets.id = wanted.subnet_id
    cross join lateral (
      select gap.after + step as address
      from (
        select after, case when after + wanted.amount < next then wanted.amount else next - after - 1 end as length
        from (
          select after, coalesce(lead(after) over (order by after), subnets.last_address + 1) as next
          from (
            select ${from} - 1 as after
            union all
            select address from ip_assignments
            where subnet_id = subnets.id and address between ${from} and subnets.last_address
            union all
            select address from unnest(${besides.map((one) => one.subnetId)}::uuid[],
              ${besides.map((one) => one.address)}::inet[]) as besides (subnet_id, address)
            where subnet_id = subnets.id and address between ${from} and subnets.last_address
          ) as taken
        ) as next_taken
      ) as gap
      cross join lateral generate_series(1, gap.length) as step
      order by gap.after, step
      limit wanted.amount
    ) as free`.execute(tx.sql);
  for (const { id, address } of rows) free.set(id, [...(free.get(id) ?? []), address]);
  return free;
}

export async function insertAssignments(tx: Transaction, taken: TakenAddress[]): Promise<void> {
  await tx.sql
    .insertInto('ip_assignments')
    .values(
      taken.map(({ subnetId, address, holder }) => ({
        subnet_id: subnetId,
        address,
        port_id: 'port' in holder ? holder.port : null,
        floating_ip_id: 'floatingIp' in holder ? holder.floatingIp : null,
        router_id: 'router' in holder ? holder.router : null,
      })),
    )
    .execute();
}

/** Updates the counts. `chosen` has the addresses that were requested by name, so they aren't the lowest free ones. */
export async function noteTaken(tx: Transaction, taken: TakenAddress[], chosen: ReadonlySet<string>): Promise<void> {
  await sql`
    update subnets set
      used_ips = used_ips + taken.amount,
      free_from = coalesce(taken.highest + 1, free_from)
    from (
      select subnet_id, count(*) as amount, max(address) filter (where lowest) as highest
      from unnest(${taken.map((one) => one.subnetId)}::uuid[], ${taken.map((one) => one.address)}::inet[],
        ${taken.map((one) => !chosen.has(`${one.subnetId} ${one.address}`))}::boolean[])
        as one (subnet_id, address, lowest)
      group by subnet_id
    ) as taken
    where subnets.id = taken.subnet_id`.execute(tx.sql);
}

export async function release(tx: Transaction, portIds: string[], floatingIpIds: string[] = []): Promise<void> {
  await giveBack(tx, sql`(port_id = any(${portIds}::uuid[]) or floating_ip_id = any(${floatingIpIds}::uuid[]))`);
}

export async function releaseSome(tx: Transaction, portId: string, addresses: HeldAddress[]): Promise<void> {
  if (addresses.length === 0) return;
  await giveBack(
    tx,
    sql`port_id = ${portId} and (subnet_id, address) in (
      select * from unnest(${addresses.map((one) => one.subnetId)}::uuid[],
        ${addresses.map((one) => one.address)}::inet[])
    )`,
  );
}

/** Releases the addresses that a router has in the subnets; without `subnetIds`, all of them. */
export async function releaseOfRouter(tx: Transaction, routerId: string, subnetIds?: readonly string[]): Promise<void> {
  const where = subnetIds === undefined ? sql`` : sql`and subnet_id = any(${subnetIds}::uuid[])`;
  await giveBack(tx, sql`router_id = ${routerId} ${where}`);
}

/** Releases all addresses of projects whose contents go at once. */
export async function releaseOfProjects(tx: Transaction, projectIds: readonly number[]): Promise<void> {
  const those = sql`where project_id = any(${[...projectIds]}::bigint[])`;
  await giveBack(
    tx,
    sql`(port_id in (select id from ports ${those}) or floating_ip_id in (select id from floating_ips ${those})
      or router_id in (select id from routers ${those}))`,
  );
}

/** Moves the addresses of a port to a floating IP, without a moment in which they are free. */
export async function handOver(tx: Transaction, portId: string, floatingIpId: string): Promise<void> {
  await sql`
    update ip_assignments set port_id = null, floating_ip_id = ${floatingIpId} where port_id = ${portId}`.execute(
    tx.sql,
  );
}

/** Moves the address of a floating IP to a port, in the same manner. */
export async function handOverToPort(tx: Transaction, floatingIpId: string, portId: string): Promise<void> {
  await sql`
    update ip_assignments set port_id = ${portId}, floating_ip_id = null where floating_ip_id = ${floatingIpId}`.execute(
    tx.sql,
  );
}

/** Returns the network and subnet of a floating IP's address. */
export async function originOf(tx: Transaction, floatingIpId: string) {
  return tx.sql
    .selectFrom('ip_assignments')
    .innerJoin('subnets', 'subnets.id', 'ip_assignments.subnet_id')
    .select(['subnets.network_id as networkId', 'subnets.id as subnetId'])
    .where('floating_ip_id', '=', floatingIpId)
    .executeTakeFirstOrThrow();
}

async function giveBack(tx: Transaction, which: RawBuilder<unknown>): Promise<void> {
  await lockingSubnets(which).execute(tx.sql);
  // External subnets keep no counts: everybody would wait for their rows. Older releases raise `free_from` and look for
  // free addresses from there on, so it goes back to the first address, once.
  const { rows: outside } = await sql<{ subnet_id: string; address: string }>`
    with gone as (
      delete from ip_assignments where ${which} returning subnet_id, address
    ), offered as (
      insert into free_external_addresses (subnet_id, address)
      select subnet_id, address from gone join subnets on subnets.id = subnet_id
      where address <= offered_to and ${IS_EXTERNAL} on conflict do nothing
    ), counted as (
      update subnets set
        used_ips = case when ${IS_EXTERNAL} then used_ips else used_ips - gone.amount end,
        free_from = case when ${IS_EXTERNAL} then first_address else least(free_from, gone.lowest) end
      from (select subnet_id, count(*) as amount, min(address) as lowest from gone group by subnet_id) as gone
      where subnets.id = gone.subnet_id and (not ${IS_EXTERNAL} or free_from > gone.lowest)
    )
    select subnet_id, host(address) as address from gone join subnets on subnets.id = subnet_id
    where ${IS_EXTERNAL}`.execute(tx.sql);
  await protectNoLonger(tx, outside);
}

const IS_EXTERNAL = sql`exists (select from networks where networks.id = network_id and external)`;

/** Returns SQL that locks the project's own subnets of these assignments, in the order of `lockSubnets`. */
export const lockingSubnets = (which: RawBuilder<unknown>) => sql`
  select id from subnets where id in (select subnet_id from ip_assignments where ${which}) and not ${IS_EXTERNAL}
  order by id for no key update`;

export type AddressHolder = { port: string } | { floatingIp: string } | { router: string };

/** Where to take an address from. */
export type AddressSource =
  | { kind: 'external'; family: IpFamily }
  /** `family` is the family that the request expects, if it names one. */
  | {
      kind: 'subnet';
      networkId?: string | undefined;
      subnetId: string;
      address?: string | undefined;
      family?: IpFamily | undefined;
    }
  | { kind: 'any-subnet'; networkId: string; family: IpFamily; address?: string | undefined };

/** An address that a port, a floating IP or a router asks for. `field` is its field in the request, for error messages. */
export interface AddressWish {
  holder: AddressHolder;
  field: string;
  from: AddressSource;
}

export interface TakenAddress {
  holder: AddressHolder;
  networkId: string;
  subnetId: string;
  address: string;
  external: boolean;
}

export interface HeldAddress {
  subnetId: string;
  address: string;
}

export const noneLeft = (subnetId: string): string =>
  `Subnet ${subnetId} has no free addresses; delete resources that you no longer need, or use another subnet`;
export const noneLeftOutside = ([first, ...others]: readonly { id: string }[]): string =>
  `${others.length > 0 ? `None of the ${others.length + 1} external subnets has free addresses` : `The external network has no free addresses in subnet ${first?.id}`}; delete floating IPs, reserved fixed IPs or routers that you no longer need`;
export const isTaken = (addresses: readonly string[]): string =>
  `A requested address is already in use: ${addresses.join(', ')}`;
