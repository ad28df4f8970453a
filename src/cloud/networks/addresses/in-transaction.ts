import { type Transaction, violates } from '../../../db/database.ts';
import { canonicalAddress, type IpFamily } from '../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { isBetween } from '../../../lib/ip-number.ts';
import type { Scope } from '../../projects/service.ts';
import { insertAssignments, type LockedSubnet, lockSubnets, lowestFree, noteTaken } from './store.ts';
import type { AddressSource, AddressWish, TakenAddress } from './wish.ts';

/** Release addresses of ports and floating IPs: all of them, or the given ones that a port still has. */
export { handOver, release, releaseSome } from './store.ts';
export type { AddressSource, AddressWish, HeldAddress, TakenAddress } from './wish.ts';

/**
 * Takes an address for each wish, in the order of the wishes. The subnets stay locked until the transaction ends. The
 * ports and floating IPs may be inserted later in the transaction.
 * @throws InvalidError for an unknown network or subnet, ConflictError when no address is left or a requested one is
 * taken
 */
export async function take(tx: Transaction, scope: Scope, wishes: AddressWish[]): Promise<TakenAddress[]> {
  if (wishes.length === 0) return [];
  const subnets = await lockSubnets(
    tx,
    scope,
    wishes.map((wish) => wish.from),
  );
  const problems: FieldProblem[] = [];
  const chosen = wishes.flatMap((wish) => {
    const choice = chooseSubnet(wish, subnets);
    if ('message' in choice) problems.push(choice);
    else choice.subnet.available--;
    return 'message' in choice ? [] : [{ ...wish, ...choice }];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  const given = chosen.flatMap((choice) =>
    choice.address === undefined ? [] : [{ subnetId: choice.subnet.id, address: choice.address }],
  );
  const amounts = new Map<string, number>();
  for (const { subnet, address } of chosen) {
    if (address === undefined) amounts.set(subnet.id, (amounts.get(subnet.id) ?? 0) + 1);
  }
  const free = await lowestFree(tx, amounts, given);
  const taken = chosen.map(({ holder, subnet, address }) => {
    const next = address ?? free.get(subnet.id)?.shift();
    if (next === undefined) {
      throw new ConflictError(
        `Subnet ${subnet.id} has no free addresses; delete resources that you no longer need, or use another subnet`,
      );
    }
    return {
      holder,
      networkId: subnet.network_id,
      subnetId: subnet.id,
      address: next,
      external: subnet.external,
    };
  });
  await insertAssignments(tx, taken).catch((error: unknown) => {
    if (!violates(error, 'ip_assignments_once')) throw error;
    const asked = given.map(({ address }) => address).join(', ');
    throw new ConflictError(`A requested address is already in use: ${asked}`);
  });
  await noteTaken(tx, taken, new Set(given.map(({ subnetId, address }) => `${subnetId} ${address}`)));
  return taken;
}

type Choice = { subnet: LockedSubnet; address: string | undefined } | FieldProblem;

function chooseSubnet(wish: AddressWish, subnets: LockedSubnet[]): Choice {
  const { from } = wish;
  if (from.kind === 'subnet') return namedSubnet(from, fieldsOf(wish), subnets);
  const candidates = subnets.filter(
    ({ family, external, network_id: id }) =>
      family === from.family && (from.kind === 'external' ? external : id === from.networkId.toLowerCase()),
  );
  // The subnet with the most free addresses.
  const roomiest = candidates.toSorted((a, b) => b.available - a.available)[0];
  if (!roomiest) return noneOf(wish, from);
  if (from.kind === 'external' || from.address === undefined) return { subnet: roomiest, address: undefined };
  return subnetOf(from.address, from.family, fieldsOf(wish)('ip_address'), candidates);
}

function namedSubnet(
  from: Extract<AddressSource, { kind: 'subnet' }>,
  at: (name: string) => string,
  subnets: LockedSubnet[],
): Choice {
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
  if (from.address === undefined) return { subnet, address: undefined };
  return subnetOf(from.address, subnet.family, at('ip_address'), [subnet]);
}

function noneOf(wish: AddressWish, from: Exclude<AddressSource, { kind: 'subnet' }>): FieldProblem {
  const at = fieldsOf(wish);
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

function subnetOf(text: string, family: IpFamily, field: string, candidates: LockedSubnet[]): Choice {
  const found = canonicalAddress(text);
  if (found && found.family !== family) {
    return { field, message: `${text} is not an ${family} address.` };
  }
  const subnet = found && candidates.find((one) => handsOut(one, found.address));
  return subnet && found
    ? { subnet, address: found.address }
    : { field, message: `${text} is not in the address range of any subnet of the network.` };
}

function handsOut({ first_address, last_address }: LockedSubnet, address: string): boolean {
  return isBetween(first_address, address, last_address);
}

const fieldsOf =
  ({ field }: AddressWish) =>
  (name: string) =>
    field === '' ? name : `${field}.${name}`;
