import { sql } from 'kysely';
import { type Transaction, violates } from '../../../db/database.ts';
import { canonicalAddress, canonicalCidr, type IpFamily } from '../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { isBetween } from '../../../lib/ip-addresses.ts';
import { grouped } from '../../../lib/lists.ts';
import type { Scope } from '../../../platform.ts';
import { requireOutside } from '../../../requests/principal.ts';
import type { Region } from '../../ground/catalog/service.ts';
import * as store from './store.ts';

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
  holder: store.AddressHolder;
  subnets: readonly [OutsideSubnet, ...OutsideSubnet[]];
  address: string | undefined;
}

/**
 * External subnets are everybody's, so nobody locks one to take an address. Free addresses are rows, and a taker skips
 * those that others are taking. They are only offers, and `ip_assignments` decides: older releases know no offers.
 * @throws ConflictError when addresses have run out or the one asked for is taken
 */
export async function takeOutside(tx: Transaction, wishes: readonly OutsideWish[]): Promise<store.TakenAddress[]> {
  const given: Given = new Map();
  for (const wish of wishes) {
    if (wish.address === undefined) continue;
    const [subnet] = wish.subnets;
    // No longer offered first: others skip it from now on, and don't wait to see whether it stays taken.
    await sql`
      delete from free_external_addresses where subnet_id = ${subnet.id} and address = ${wish.address}`.execute(tx.sql);
    const [address] = await insertUntaken(tx, subnet.id, [wish.holder], [wish.address]);
    if (address === undefined) throw new ConflictError(store.isTaken([wish.address]));
    given.set(wish, taken(wish.holder, subnet, address));
  }
  const open = wishes.filter(({ address }) => address === undefined);
  const groups = [...grouped(open, ({ subnets }) => subnets.map(({ id }) => id).join()).values()];
  const choices = ([wish]: OutsideWish[]) => wish?.subnets ?? [];
  // Who has the fewest to choose from comes first.
  for (const alike of groups.toSorted((a, b) => choices(a).length - choices(b).length)) {
    const subnets = choices(alike);
    for (const subnet of subnets) await takeLowest(tx, subnet, alike, given);
    if (alike.some((one) => !given.has(one))) throw new ConflictError(store.noneLeftOutside(subnets));
  }
  return wishes.flatMap((wish) => given.get(wish) ?? []);
}

type Given = Map<OutsideWish, store.TakenAddress>;

const taken = (holder: store.AddressHolder, subnet: OutsideSubnet, address: string): store.TakenAddress => ({
  holder,
  networkId: subnet.network_id,
  subnetId: subnet.id,
  address,
  external: true,
});

/** Gives the wishes that have none yet addresses of the subnet, as far as it has some. */
async function takeLowest(tx: Transaction, subnet: OutsideSubnet, wishes: readonly OutsideWish[], given: Given) {
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
  const found = (await store.lowestFree(tx, new Map([[subnetId, amount]]), [], from)).get(subnetId) ?? [];
  await offer(tx, subnetId, found);
  // Fewer: that was the end.
  await sql`
    update subnets set offered_to = ${found.length < amount ? sql`last_address` : sql`${found.at(-1)}::inet`}
    where id = ${subnetId}`.execute(tx.sql);
}

/** Free addresses before those: a release that knows no offers gave them back. The subnet must be locked. */
async function offerSkipped(tx: Transaction, subnetId: string, amount: number): Promise<void> {
  const { rows: offered } = await sql<{ subnetId: string; address: string }>`
    select subnet_id as "subnetId", address from free_external_addresses where subnet_id = ${subnetId}`.execute(tx.sql);
  const from = sql`subnets.first_address`;
  const found = await store.lowestFree(tx, new Map([[subnetId, amount]]), offered, from);
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
  holders: readonly store.AddressHolder[],
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

export type { AddressSource, AddressWish, HeldAddress } from './store.ts';

/**
 * Release addresses of ports, floating IPs and routers: all of them, or the given ones that a port still has. Hand them
 * over between a port and a floating IP.
 */
export {
  handOver,
  handOverToPort,
  lockingSubnets,
  originOf,
  release,
  releaseOfProjects,
  releaseOfRouter,
  releaseSome,
} from './store.ts';

/**
 * Takes an address for each wish, in the order of the wishes. The project's own subnets stay locked until the
 * transaction ends. The ports and floating IPs may be inserted later in the transaction.
 * @throws InvalidError for an unknown network or subnet, ConflictError when no address is left or a requested one is
 * taken
 */
export async function take(tx: Transaction, scope: Scope, wishes: store.AddressWish[]): Promise<store.TakenAddress[]> {
  if (wishes.length === 0) return [];
  const subnets = await knownSubnets(
    tx,
    scope,
    wishes.map((wish) => wish.from),
  );
  const problems: FieldProblem[] = [];
  const place = placesIn(scope.region);
  const chosen = wishes.flatMap((wish) => {
    const choice = chooseSubnet(wish, subnets, place);
    if ('message' in choice) problems.push(choice);
    else choice.subnets[0].available--;
    return 'message' in choice ? [] : [{ holder: wish.holder, ...choice }];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  const leadsOut = ({ subnets: [{ external }] }: Chosen) => external;
  const own = chosen.filter((one) => !leadsOut(one));
  const outside = chosen.filter(leadsOut);
  if (outside.length > 0) requireOutside(scope.principal, scope.projectId);
  const [ofOwn, ofOutside] = [await takeOwn(tx, own), await takeOutside(tx, outside)];
  return chosen.flatMap((one) => (leadsOut(one) ? ofOutside : ofOwn).shift() ?? []);
}

async function knownSubnets(tx: Transaction, scope: Scope, wishes: store.AddressSource[]) {
  const inside = wishes.filter(({ kind }) => kind !== 'external');
  const own = inside.length > 0 ? await store.lockSubnets(tx, scope, inside) : [];
  // What is asked for by name is most likely the account's own.
  const isOwn = (wish: store.AddressSource) =>
    (wish.kind === 'subnet' && own.some(({ id }) => id === wish.subnetId.toLowerCase())) ||
    (wish.kind === 'any-subnet' && own.some(({ network_id: id }) => id === wish.networkId.toLowerCase()));
  const elsewhere = wishes.filter((wish) => !isOwn(wish));
  return elsewhere.length > 0 ? [...own, ...(await store.externalSubnets(tx, scope, elsewhere))] : own;
}

async function takeOwn(tx: Transaction, chosen: readonly Chosen[]): Promise<store.TakenAddress[]> {
  if (chosen.length === 0) return [];
  const given = chosen.flatMap(({ subnets: [{ id: subnetId }], address }) =>
    address === undefined ? [] : [{ subnetId, address }],
  );
  const amounts = new Map<string, number>();
  for (const { subnets, address } of chosen) {
    const [{ id }] = subnets;
    if (address === undefined) amounts.set(id, (amounts.get(id) ?? 0) + 1);
  }
  const free = await store.lowestFree(tx, amounts, given);
  const taken = chosen.map(({ holder, subnets: [subnet], address }) => {
    const next = address ?? free.get(subnet.id)?.shift();
    if (next === undefined) throw new ConflictError(store.noneLeft(subnet.id));
    return { holder, networkId: subnet.network_id, subnetId: subnet.id, address: next, external: false };
  });
  await store.insertAssignments(tx, taken).catch((error: unknown) => {
    if (!violates(error, 'ip_assignments_once')) throw error;
    throw new ConflictError(store.isTaken(given.map(({ address }) => address)));
  });
  await store.noteTaken(tx, taken, new Set(given.map(({ subnetId, address }) => `${subnetId} ${address}`)));
  return taken;
}

/** The first of the subnets is where its address comes from; what is external may come from the others as well. */
interface Choice {
  subnets: [store.KnownSubnet, ...store.KnownSubnet[]];
  address: string | undefined;
}
type Chosen = Choice & Pick<store.AddressWish, 'holder'>;

function chooseSubnet(
  wish: store.AddressWish,
  subnets: store.KnownSubnet[],
  place: ReturnType<typeof placesIn>,
): Choice | FieldProblem {
  const { from } = wish;
  if (from.kind === 'subnet') return namedSubnet(from, fieldsOf(wish), subnets);
  const candidates = subnets.filter(
    ({ family, external, network_id: id }) =>
      family === from.family && (from.kind === 'external' ? external : id === from.networkId.toLowerCase()),
  );
  // The subnet with the most free addresses. External ones keep no count of them: the first that has one will do.
  const [first, ...others] = candidates.toSorted((a, b) =>
    a.external ? place(a) - place(b) || a.id.localeCompare(b.id) : b.available - a.available,
  );
  if (!first) return noneOf(wish, from);
  if (from.kind === 'external' || from.address === undefined) {
    return { subnets: first.external ? [first, ...others] : [first], address: undefined };
  }
  return subnetOf(from.address, from.family, fieldsOf(wish)('ip_address'), candidates);
}

/** The place of a prefix in the catalogue. Those that it doesn't name are the last. */
function placesIn({ external_networks }: Region): (subnet: store.KnownSubnet) => number {
  const keyOf = (networkId: string, cidr: string) => `${networkId} ${canonicalCidr(cidr)?.network ?? cidr}`;
  const keys = external_networks.flatMap(({ id, prefixes }) => prefixes.map(({ cidr }) => keyOf(id, cidr)));
  const places = new Map(keys.map((key, index) => [key, index]));
  return ({ network_id, cidr }) => places.get(keyOf(network_id, cidr)) ?? keys.length;
}

function namedSubnet(
  from: Extract<store.AddressSource, { kind: 'subnet' }>,
  at: (name: string) => string,
  subnets: store.KnownSubnet[],
): Choice | FieldProblem {
  const subnet = subnets.find(({ id }) => id === from.subnetId.toLowerCase());
  if (!subnet || subnet.network_id !== (from.networkId?.toLowerCase() ?? subnet.network_id)) {
    const place = from.networkId === undefined ? 'this' : `network ${from.networkId} of this`;
    return {
      field: at('subnet_id'),
      message: `No subnet ${from.subnetId} in ${place} project and region.`,
    };
  }
  if (from.family !== undefined && from.family !== subnet.family) {
    return {
      field: at('ip_family'),
      message: `Subnet ${subnet.id} is an ${subnet.family} subnet; leave ip_family out.`,
    };
  }
  if (from.address === undefined) return { subnets: [subnet], address: undefined };
  return subnetOf(from.address, subnet.family, at('ip_address'), [subnet]);
}

function noneOf(wish: store.AddressWish, from: Exclude<store.AddressSource, { kind: 'subnet' }>): FieldProblem {
  const at = fieldsOf(wish);
  if ('router' in wish.holder) {
    return {
      field: wish.field,
      message: 'The external network of this region has no IPv4 addresses, which routers need.',
    };
  }
  if ('floatingIp' in wish.holder) {
    return {
      field: wish.field,
      message: "This region has no external network and can't offer floating IPs.",
    };
  }
  if (from.kind === 'any-subnet') {
    return {
      field: at(from.family === 'IPv6' ? 'ip_family' : 'network_id'),
      message: `No network ${from.networkId} with an ${from.family} subnet in this project and region.`,
    };
  }
  return from.family === 'IPv6'
    ? { field: at('ip_family'), message: 'The external network of this region has no IPv6; use ipv4.' }
    : { field: at('type'), message: 'This region has no external network; use a subnet.' };
}

function subnetOf(
  text: string,
  family: IpFamily,
  field: string,
  candidates: store.KnownSubnet[],
): Choice | FieldProblem {
  const found = canonicalAddress(text);
  if (found && found.family !== family) {
    return { field, message: `${text} is not an ${family} address.` };
  }
  const subnet = found && candidates.find((one) => handsOut(one, found.address));
  return subnet && found
    ? { subnets: [subnet], address: found.address }
    : { field, message: `${text} is not in the address range of any subnet of the network.` };
}

function handsOut({ first_address, last_address }: store.KnownSubnet, address: string): boolean {
  return isBetween(first_address, address, last_address);
}

const fieldsOf =
  ({ field }: store.AddressWish) =>
  (name: string) =>
    field === '' ? name : `${field}.${name}`;

export async function isOutside(tx: Transaction, networkId: string): Promise<boolean> {
  const network = await tx.sql.selectFrom('networks').select('external').where('id', '=', networkId).executeTakeFirst();
  return network?.external ?? false;
}
