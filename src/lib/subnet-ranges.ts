import ipaddr from 'ipaddr.js';
import { canonicalAddress, canonicalCidr, hostBitsFault, type IpFamily } from './cidr.ts';
import type { FieldProblem } from './errors.ts';
import { addressAt, BITS, isBetween, numberOf } from './ip-addresses.ts';

/** A range of addresses, and the part of it that hosts may use. */
export interface SubnetRange {
  family: IpFamily;
  /** The network address with its mask. */
  cidr: string;
  /** First and last address that hosts may have. */
  firstHost: string;
  lastHost: string;
}

interface Rules {
  example: string;
  /** The widest and the narrowest mask. */
  masks: [number, number];
  /** Special ranges (RFC 6890) that `isForHosts` lets through, by their names in ipaddr.js. */
  special: ReadonlySet<string>;
  /** Whether the last address of a range reaches all of its machines, so no host can have it. */
  hasBroadcast: boolean;
}

/**
 * A /8 has as many IPv4 addresses as any private network needs; a /32 is what a whole provider gets in IPv6. The
 * smallest ranges still have a few addresses besides the gateway.
 */
const RULES: Record<IpFamily, Rules> = {
  IPv4: {
    example: '10.10.0.0/24',
    masks: [8, 29],
    special: new Set(['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast']),
    hasBroadcast: true,
  },
  IPv6: { example: 'fd00:10::/64', masks: [32, 125], special: new Set(['6to4', 'teredo']), hasBroadcast: false },
};
const CLASS_E = 240;

/** Returns the range that a request names, or what is wrong with it. */
export function subnetRange(text: string): SubnetRange | FieldProblem {
  const field = 'cidr';
  const found = canonicalCidr(text);
  if (!found) {
    return {
      field,
      message: 'Must be a CIDR such as 10.10.0.0/24 or fd00:10::/64.',
    };
  }
  const hostBits = hostBitsFault(found);
  if (hostBits !== undefined) return { field, message: hostBits };
  const { family, network: cidr } = found;
  const { example, masks, special, hasBroadcast } = RULES[family];
  const [base, mask] = ipaddr.parseCIDR(cidr);
  const [widest, narrowest] = masks;
  if (mask < widest || mask > narrowest) {
    return {
      field,
      message: `The prefix length of an ${family} range must be from /${widest} to /${narrowest}, but is /${mask}.`,
    };
  }
  if (special.has(base.range()) || !isForHosts(base)) {
    return {
      field,
      message: `${cidr} is reserved for other purposes; use a private range such as ${example}.`,
    };
  }
  const network = numberOf(base.toString());
  const last = network + (1n << BigInt(BITS[family] - mask)) - 1n;
  return {
    family,
    cidr,
    firstHost: addressAt(network + 1n, family),
    lastHost: addressAt(hasBroadcast ? last - 1n : last, family),
  };
}

/** Whether hosts may have such addresses: in IPv6 private ones (RFC 4193) and those routed so far (RFC 4291). */
function isForHosts(base: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [first = 0] = base.toByteArray();
  if (base.kind() === 'ipv4') return first < CLASS_E;
  return first >> 5 === 0x20 >> 5 || first >> 1 === 0xfc >> 1;
}

/** Returns the gateway, or null for none. By default, it is the first address. */
export function gatewayIn(range: SubnetRange, given: string | null | undefined): string | null | FieldProblem {
  if (given === null) return null;
  if (given === undefined) return range.firstHost;
  const address = canonicalAddress(given)?.address;
  if (address !== undefined && isBetween(range.firstHost, address, range.lastHost)) return address;
  return {
    field: 'gateway_ip',
    message: `Must be an address from ${range.firstHost} to ${range.lastHost}, or null for no gateway.`,
  };
}

/** The highest of the addresses that a backend keeps; the one before the first if it keeps none. */
export function lastKept({ firstHost }: Pick<SubnetRange, 'firstHost'>, gateway: string | null, keeps: number): bigint {
  const last = numberOf(firstHost) + BigInt(keeps) - 1n;
  return gateway !== null && numberOf(gateway) <= last ? last + 1n : last;
}

/**
 * Returns the range for ports; undefined if none is left. It contains a gateway in the middle, which `keepsGateway` then
 * reserves. The lowest addresses but for the gateway's are left out, as many as the backend `keeps`.
 */
export function poolOf(
  { family, firstHost, lastHost }: SubnetRange,
  gateway: string | null,
  keeps = 0,
): { first: string; last: string } | undefined {
  const unkept = lastKept({ firstHost }, gateway, keeps) + 1n;
  const first = gateway !== null && numberOf(gateway) === unkept ? unkept + 1n : unkept;
  const last = gateway === lastHost ? numberOf(lastHost) - 1n : numberOf(lastHost);
  return first > last ? undefined : { first: addressAt(first, family), last: addressAt(last, family) };
}

/** Whether a port could get the gateway's address unless it is reserved. */
export function keepsGateway(pool: { first: string; last: string }, gateway: string | null): gateway is string {
  return gateway !== null && isBetween(pool.first, gateway, pool.last);
}
