import { type Transaction, violates } from '../../../db/database.ts';
import { canonicalAddress, type IpFamily } from '../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { isBetween } from '../../../lib/ip-addresses.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { takeOutside } from './outside.ts';
import {
  externalSubnets,
  insertAssignments,
  type KnownSubnet,
  lockSubnets,
  lowestFree,
  noteTaken,
} from './store.ts';
import { type AddressSource, type AddressWish, isTaken, noneLeft, type TakenAddress } from './wish.ts';

/**
 * Release addresses of ports, floating IPs and routers: all of them, or the given ones that a port still has. Hand them
 * over between a port and a floating IP.
 */
export {
  handOver,
  handOverToPort,
  originOf,
  release,
  releaseOfProjects,
  releaseOfRouter,
  releaseSome,
} from './store.ts';
export type { AddressSource, AddressWish, HeldAddress, TakenAddress } from './wish.ts';

/**
 * Takes an address for each wish, in the order of the wishes. The project's own subnets stay locked until the
 * transaction ends. The ports and floating IPs may be inserted later in the transaction.
 * @throws InvalidError for an unknown network or subnet, ConflictError when no address is left or a requested one is
 * taken
 */
export async function take(tx: Transaction, scope: Scope, wishes: AddressWish[]): Promise<TakenAddress[]> {
  if (wishes.length === 0) return [];
  const subnets = await knownSubnets(
    tx,
    scope,
    wishes.map((wish) => wish.from),
  );
  const problems: FieldProblem[] = [];
  const chosen = wishes.flatMap((wish) => {
    const choice = chooseSubnet(wish, subnets);
    if ('message' in choice) problems.push(choice);
    else choice.subnets[0].available--;
    return 'message' in choice ? [] : [{ holder: wish.holder, ...choice }];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  const leadsOut = ({ subnets: [{ external }] }: Chosen) => external;
  const own = chosen.filter((one) => !leadsOut(one));
  const outside = chosen.filter(leadsOut);
  const [ofOwn, ofOutside] = [await takeOwn(tx, own), await takeOutside(tx, outside)];
  return chosen.flatMap((one) => (leadsOut(one) ? ofOutside : ofOwn).shift() ?? []);
}

async function knownSubnets(tx: Transaction, scope: Scope, wishes: AddressSource[]): Promise<KnownSubnet[]> {
  const inside = wishes.filter(({ kind }) => kind !== 'external');
  const own = inside.length > 0 ? await lockSubnets(tx, scope, inside) : [];
  // What is asked for by name is most likely the account's own.
  const isOwn = (wish: AddressSource) =>
    (wish.kind === 'subnet' && own.some(({ id }) => id === wish.subnetId.toLowerCase())) ||
    (wish.kind === 'any-subnet' && own.some(({ network_id: id }) => id === wish.networkId.toLowerCase()));
  const elsewhere = wishes.filter((wish) => !isOwn(wish));
  return elsewhere.length > 0 ? [...own, ...(await externalSubnets(tx, scope, elsewhere))] : own;
}

async function takeOwn(tx: Transaction, chosen: readonly Chosen[]): Promise<TakenAddress[]> {
  if (chosen.length === 0) return [];
  const given = chosen.flatMap(({ subnets: [{ id: subnetId }], address }) =>
    address === undefined ? [] : [{ subnetId, address }],
  );
  const amounts = new Map<string, number>();
  for (const { subnets, address } of chosen) {
    const [{ id }] = subnets;
    if (address === undefined) amounts.set(id, (amounts.get(id) ?? 0) + 1);
  }
  const free = await lowestFree(tx, amounts, given);
  const taken = chosen.map(({ holder, subnets: [subnet], address }) => {
    const next = address ?? free.get(subnet.id)?.shift();
    if (next === undefined) throw new ConflictError(noneLeft(subnet.id));
    return { holder, networkId: subnet.network_id, subnetId: subnet.id, address: next, external: false };
  });
  await insertAssignments(tx, taken).catch((error: unknown) => {
    if (!violates(error, 'ip_assignments_once')) throw error;
    throw new ConflictError(isTaken(given.map(({ address }) => address)));
  });
  await noteTaken(tx, taken, new Set(given.map(({ subnetId, address }) => `${subnetId} ${address}`)));
  return taken;
}

/** The first of the subnets is where its address comes from; what is external may come from the others as well. */
interface Choice {
  subnets: [KnownSubnet, ...KnownSubnet[]];
  address: string | undefined;
}
type Chosen = Choice & Pick<AddressWish, 'holder'>;

function chooseSubnet(wish: AddressWish, subnets: KnownSubnet[]): Choice | FieldProblem {
  const { from } = wish;
  if (from.kind === 'subnet') return namedSubnet(from, fieldsOf(wish), subnets);
  const candidates = subnets.filter(
    ({ family, external, network_id: id }) =>
      family === from.family && (from.kind === 'external' ? external : id === from.networkId.toLowerCase()),
  );
  // The subnet with the most free addresses. External ones keep no count of them: the first that has one will do.
  const [first, ...others] = candidates.toSorted((a, b) =>
    a.external ? a.id.localeCompare(b.id) : b.available - a.available,
  );
  if (!first) return noneOf(wish, from);
  if (from.kind === 'external' || from.address === undefined) {
    return { subnets: first.external ? [first, ...others] : [first], address: undefined };
  }
  return subnetOf(from.address, from.family, fieldsOf(wish)('ip_address'), candidates);
}

function namedSubnet(
  from: Extract<AddressSource, { kind: 'subnet' }>,
  at: (name: string) => string,
  subnets: KnownSubnet[],
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

function noneOf(wish: AddressWish, from: Exclude<AddressSource, { kind: 'subnet' }>): FieldProblem {
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
  candidates: KnownSubnet[],
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

function handsOut({ first_address, last_address }: KnownSubnet, address: string): boolean {
  return isBetween(first_address, address, last_address);
}

const fieldsOf =
  ({ field }: AddressWish) =>
  (name: string) =>
    field === '' ? name : `${field}.${name}`;

/** Whether the network is an external one of the platform. */
export async function isOutside(tx: Transaction, networkId: string): Promise<boolean> {
  const network = await tx.sql
    .selectFrom('networks')
    .select('external')
    .where('id', '=', networkId)
    .executeTakeFirst();
  return network?.external ?? false;
}
