import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { lowestFree } from './store.ts';
import { type AddressHolder, isTaken, noneLeftOutside, type TakenAddress } from './wish.ts';

/** Free addresses that are offered at once. */
const CHUNK = 256;
/** When fewer are left, the next ones are offered, so that hardly anybody finds none and has to wait. */
const LOW = 64;

interface OutsideSubnet {
  id: string;
  network_id: string;
}

/** One address outside: a certain one of the subnet, or any of the first of the subnets that has one. */
export interface OutsideWish {
  holder: AddressHolder;
  subnets: readonly [OutsideSubnet, ...OutsideSubnet[]];
  address: string | undefined;
}

/**
 * External subnets are everybody's, so nobody locks one to take an address. Free addresses are rows, and a taker skips
 * those that others are taking. They are only offers, and `ip_assignments` decides: older releases know no offers.
 * @throws ConflictError when addresses have run out or the one asked for is taken
 */
export async function takeOutside(tx: Transaction, wishes: readonly OutsideWish[]): Promise<TakenAddress[]> {
  const given: Given = new Map();
  for (const wish of wishes) {
    if (wish.address === undefined) continue;
    const [subnet] = wish.subnets;
    // No longer offered first: others skip it from now on, and don't wait to see whether it stays taken.
    await sql`
      delete from free_external_addresses where subnet_id = ${subnet.id} and address = ${wish.address}`.execute(
      tx.sql,
    );
    const [address] = await insertUntaken(tx, subnet.id, [wish.holder], [wish.address]);
    if (address === undefined) throw new ConflictError(isTaken([wish.address]));
    given.set(wish, taken(wish.holder, subnet, address));
  }
  for (const wish of wishes) {
    if (given.has(wish)) continue;
    const [first] = wish.subnets;
    const alike = wishes.filter((one) => one.address === undefined && one.subnets[0].id === first.id);
    for (const subnet of wish.subnets) await takeLowest(tx, subnet, alike, given);
    if (alike.some((one) => !given.has(one))) throw new ConflictError(noneLeftOutside(first.id));
  }
  return wishes.flatMap((wish) => given.get(wish) ?? []);
}

type Given = Map<OutsideWish, TakenAddress>;

const taken = (holder: AddressHolder, subnet: OutsideSubnet, address: string): TakenAddress => ({
  holder,
  networkId: subnet.network_id,
  subnetId: subnet.id,
  address,
  external: true,
});

/** Gives the wishes that have none yet addresses of the subnet, as far as it has some. */
async function takeLowest(
  tx: Transaction,
  subnet: OutsideSubnet,
  wishes: readonly OutsideWish[],
  given: Given,
): Promise<void> {
  let untried = REMEDIES;
  for (;;) {
    const left = wishes.filter((wish) => !given.has(wish));
    if (left.length === 0) return;
    const { addresses, isLow } = await pickOffered(tx, subnet.id, left.length);
    if (addresses.length === 0) {
      const [remedy, ...others] = untried;
      if (!remedy) return;
      untried = others;
      await remedy(tx, subnet.id, left.length);
      continue;
    }
    untried = REMEDIES;
    const holders = left.slice(0, addresses.length).map(({ holder }) => holder);
    const got = new Set(await insertUntaken(tx, subnet.id, holders, addresses));
    for (const [index, wish] of left.entries()) {
      const address = addresses[index];
      if (address !== undefined && got.has(address)) given.set(wish, taken(wish.holder, subnet, address));
    }
    if (isLow && (await lock(tx, subnet.id, { wait: false }))) await offerNext(tx, subnet.id, CHUNK);
  }
}

/** For when nothing is offered. Another one may be just offering some. */
const REMEDIES: readonly ((tx: Transaction, subnetId: string, missing: number) => Promise<unknown>)[] = [
  (tx, subnetId) => lock(tx, subnetId, { wait: true }),
  (tx, subnetId, missing) => offerNext(tx, subnetId, Math.max(missing, CHUNK)),
  (tx, subnetId, missing) => offerSkipped(tx, subnetId, Math.max(missing, CHUNK)),
];

/** Who offers addresses locks the subnet. Whether it is locked, and not at its end. */
async function lock(tx: Transaction, subnetId: string, { wait }: { wait: boolean }): Promise<boolean> {
  const { rows } = await sql`
    select from subnets
    where id = ${subnetId} and (${wait} or offered_to is null or offered_to < last_address)
    for no key update ${wait ? sql`` : sql`skip locked`}`.execute(tx.sql);
  return rows.length > 0;
}

/** Answers the lowest that nobody else is taking, at most `amount`, which are offered no more. */
async function pickOffered(
  tx: Transaction,
  subnetId: string,
  amount: number,
): Promise<{ addresses: string[]; isLow: boolean }> {
  const { rows } = await sql<{ address: string; is_low: boolean }>`
    with lowest as (
      select address from free_external_addresses where subnet_id = ${subnetId}
      order by address limit ${amount} for update skip locked
    ), gone as (
      delete from free_external_addresses as free using lowest
      where free.subnet_id = ${subnetId} and free.address = lowest.address returning lowest.address
    )
    select address, ${amount + LOW}::int > (
      select count(*) from (
        select from free_external_addresses where subnet_id = ${subnetId} limit ${amount + LOW}) as known) as is_low
    from gone order by address`.execute(tx.sql);
  return { addresses: rows.map(({ address }) => address), isLow: rows[0]?.is_low === true };
}

/** The next free addresses after those that have been offered before. The subnet must be locked. */
async function offerNext(tx: Transaction, subnetId: string, amount: number): Promise<void> {
  const from = sql`coalesce(subnets.offered_to + 1, subnets.first_address)`;
  const found = (await lowestFree(tx, new Map([[subnetId, amount]]), [], from)).get(subnetId) ?? [];
  await offer(tx, subnetId, found);
  // Fewer: that was the end.
  await sql`
    update subnets set offered_to = ${found.length < amount ? sql`last_address` : sql`${found.at(-1)}::inet`}
    where id = ${subnetId}`.execute(tx.sql);
}

/** Free addresses before those: a release that knows no offers gave them back. The subnet must be locked. */
async function offerSkipped(tx: Transaction, subnetId: string, amount: number): Promise<void> {
  const { rows: offered } = await sql<{ subnetId: string; address: string }>`
    select subnet_id as "subnetId", address from free_external_addresses where subnet_id = ${subnetId}`.execute(
    tx.sql,
  );
  const from = sql`subnets.first_address`;
  const found = await lowestFree(tx, new Map([[subnetId, amount]]), offered, from);
  await offer(tx, subnetId, found.get(subnetId) ?? []);
}

async function offer(tx: Transaction, subnetId: string, addresses: string[]): Promise<void> {
  await sql`
    insert into free_external_addresses (subnet_id, address)
    select ${subnetId}, unnest(${addresses}::inet[]) on conflict do nothing`.execute(tx.sql);
}

/** Answers those that nobody had. */
async function insertUntaken(
  tx: Transaction,
  subnetId: string,
  holders: readonly AddressHolder[],
  addresses: readonly string[],
): Promise<string[]> {
  const ports = holders.map((holder) => ('port' in holder ? holder.port : null));
  const floatingIps = holders.map((holder) => ('floatingIp' in holder ? holder.floatingIp : null));
  const routers = holders.map((holder) => ('router' in holder ? holder.router : null));
  const { rows } = await sql<{ address: string }>`
    insert into ip_assignments (subnet_id, address, port_id, floating_ip_id, router_id)
    select ${subnetId}, address, port_id, floating_ip_id, router_id
    from unnest(${[...addresses]}::inet[], ${ports}::uuid[], ${floatingIps}::uuid[], ${routers}::uuid[])
      as one (address, port_id, floating_ip_id, router_id)
    on conflict on constraint ip_assignments_once do nothing returning address`.execute(tx.sql);
  return rows.map(({ address }) => address);
}
