import ipaddr from 'ipaddr.js';
import { type Transaction, violates } from '../../db/database.ts';
import { canonicalAddress } from '../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../lib/errors.ts';
import { placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import {
  insertAssignments,
  type LockedSubnet,
  lockSubnets,
  lowestFree,
  noteTaken,
  release,
  releaseSome,
} from './address-store.ts';
import type { AddressWish, HeldAddress, TakenAddress } from './address-wish.ts';

/** Hands out the addresses of subnets. The subnets stay locked until the transaction ends. */
export interface Addresses {
  /**
   * One address for each wish, in the order of the wishes. Ports and floating IPs may be written later in the transaction.
   * @throws InvalidError for an unknown network or subnet, ConflictError when addresses have run out or the one asked for is taken
   */
  take(tx: Transaction, scope: Scope, wishes: AddressWish[]): Promise<TakenAddress[]>;
  /** Gives back all addresses of the ports and floating IPs. */
  release(tx: Transaction, portIds: string[], floatingIpIds?: string[]): Promise<void>;
  /** Gives back these addresses of one port, those that it still has. */
  releaseSome(tx: Transaction, portId: string, addresses: HeldAddress[]): Promise<void>;
}

export function createAddresses(): Addresses {
  return {
    async take(tx, scope, wishes) {
      if (wishes.length === 0) return [];
      const subnets = await lockSubnets(
        tx,
        placeOf(scope),
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
            `Subnet ${subnet.id} has no free address left; delete what is no longer needed or use another subnet`,
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
        throw new ConflictError(`An address that was asked for is taken already: ${asked}`);
      });
      await noteTaken(tx, taken, new Set(given.map(({ subnetId, address }) => `${subnetId} ${address}`)));
      return taken;
    },
    release,
    releaseSome,
  };
}

type Choice = { subnet: LockedSubnet; address: string | undefined } | FieldProblem;

function chooseSubnet({ holder, from, field }: AddressWish, subnets: LockedSubnet[]): Choice {
  const at = (name: string) => (field === '' ? name : `${field}.${name}`);
  if (from.kind === 'subnet') {
    const subnet = subnets.find(({ id }) => id === from.subnetId.toLowerCase());
    if (subnet && subnet.network_id === (from.networkId?.toLowerCase() ?? subnet.network_id)) {
      return from.address === undefined
        ? { subnet, address: undefined }
        : subnetOf(from.address, at('ip_address'), [subnet]);
    }
    return {
      field: at('subnet_id'),
      message:
        from.networkId === undefined
          ? `No subnet ${from.subnetId} in this project and region.`
          : `No subnet ${from.subnetId} in network ${from.networkId} of this project and region.`,
    };
  }
  const candidates =
    from.kind === 'external'
      ? subnets.filter(({ external }) => external)
      : subnets.filter(({ network_id: id }) => id === from.networkId.toLowerCase());
  // The subnet with the most free addresses.
  const roomiest = candidates.toSorted((a, b) => b.available - a.available)[0];
  if (!roomiest) {
    if ('floatingIp' in holder) {
      return { field, message: 'This region has no external network, and so no floating IPs.' };
    }
    return from.kind === 'external'
      ? { field: at('type'), message: 'This region has no external network; use a subnet.' }
      : {
          field: at('network_id'),
          message: `No network ${from.networkId} with a subnet in this project and region.`,
        };
  }
  if (from.kind === 'external' || from.address === undefined) return { subnet: roomiest, address: undefined };
  return subnetOf(from.address, at('ip_address'), candidates);
}

function subnetOf(text: string, field: string, candidates: LockedSubnet[]): Choice {
  const address = canonicalAddress(text)?.address;
  const subnet =
    address === undefined
      ? undefined
      : candidates.find(
          ({ first_address: first, last_address: last }) => inOrder(first, address) && inOrder(address, last),
        );
  if (subnet) return { subnet, address };
  return {
    field,
    message: `${text} is not an address that a subnet of the network hands out.`,
  };
}

function inOrder(a: string, b: string): boolean {
  const [left, right] = [ipaddr.parse(a).toByteArray(), ipaddr.parse(b).toByteArray()];
  return left.length === right.length && Buffer.compare(Buffer.from(left), Buffer.from(right)) <= 0;
}
