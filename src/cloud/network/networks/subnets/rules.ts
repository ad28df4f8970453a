import ipaddr from 'ipaddr.js';
import { canonicalAddress, canonicalCidr, hostBitsFault, type IpFamily } from '../../../../lib/cidr.ts';
import { type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { addressAt, BITS, isBetween, numberOf } from '../../../../lib/ip-addresses.ts';
import { tagsOf } from '../../../../lib/legacy-metadata.ts';
import { type IpRoute, ipRoutesFrom } from '../../../../lib/next-hops.ts';
import type { CreateSubnet } from '../schema.ts';

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

/** Returns the range for ports. It contains a gateway in the middle, which `keepsGateway` then reserves. */
export function poolOf(
  { family, firstHost, lastHost }: SubnetRange,
  gateway: string | null,
): { first: string; last: string } {
  return {
    first: gateway === firstHost ? addressAt(numberOf(firstHost) + 1n, family) : firstHost,
    last: gateway === lastHost ? addressAt(numberOf(lastHost) - 1n, family) : lastHost,
  };
}

/** Whether a port could get the gateway's address unless it is reserved. */
export function keepsGateway(pool: { first: string; last: string }, gateway: string | null): gateway is string {
  return gateway !== null && isBetween(pool.first, gateway, pool.last);
}

/** The defaults of Neutron's max_dns_nameservers and max_subnet_host_routes. */
const MAX_NAMESERVERS = 5;
const MAX_HOST_ROUTES = 20;
const EXAMPLES: Record<IpFamily, string> = { IPv4: '1.1.1.1', IPv6: '2606:4700:4700::1111' };

/** Checks the name servers of a subnet of the given family. As in Neutron, they are of the same family. */
export function nameserversFrom(
  given: readonly string[],
  family: IpFamily,
): { nameservers: string[]; problems: FieldProblem[] } {
  const field = 'dns_nameservers';
  const problems: FieldProblem[] = [];
  if (given.length > MAX_NAMESERVERS) {
    problems.push({
      field,
      message: `Too many name servers: at most ${MAX_NAMESERVERS} are allowed, but the request has ${given.length}.`,
    });
  }
  const nameservers = given.flatMap((text, index) => {
    const found = canonicalAddress(text);
    if (found?.family === family) return [found.address];
    const message = `Must be an ${family} address such as ${EXAMPLES[family]}.`;
    problems.push({ field: `${field}.${index}`, message });
    return [];
  });
  if (new Set(nameservers).size < nameservers.length) {
    problems.push({ field, message: 'Contains the same server twice; list it once.' });
  }
  return { nameservers, problems };
}

export const hostRoutesFrom = (given: readonly IpRoute[], family: IpFamily) =>
  ipRoutesFrom(given, { field: 'host_routes', most: MAX_HOST_ROUTES, family });

/** Returns the subnet that a request asks for. @throws InvalidError with all problems */
export function wantedSubnet(request: CreateSubnet) {
  const tags = tagsOf(request);
  const problems: FieldProblem[] = [];
  const sound = <T>(found: T | FieldProblem): T | undefined => {
    if (typeof found !== 'object' || found === null || !('message' in found)) return found;
    problems.push(found);
    return undefined;
  };
  const range = sound<SubnetRange>(subnetRange(request.cidr));
  const gateway = range && sound<string | null>(gatewayIn(range, request.gateway_ip));
  const family = range?.family ?? (request.ip_version === 6 ? 'IPv6' : 'IPv4');
  const { nameservers, problems: nameserverProblems } = nameserversFrom(request.dns_nameservers ?? [], family);
  const { routes, problems: routeProblems } = hostRoutesFrom(request.host_routes ?? [], family);
  problems.push(...nameserverProblems, ...routeProblems, ...formProblems(request));
  if (request.ip_version !== undefined && range && range.family !== `IPv${request.ip_version}`) {
    const message = `${range.cidr} is an ${range.family} range; send ${range.family.at(-1)} or leave it out.`;
    problems.push({ field: 'ip_version', message });
  }
  if (problems.length > 0 || range === undefined || gateway === undefined) throw new InvalidError(problems);
  return { range, gateway, nameservers, routes, tags };
}

function formProblems(request: CreateSubnet): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (request.gateway_ip === null && request.connect_to_network_router !== false) {
    const message = "Must be false if gateway_ip is null: a subnet without a gateway isn't routed.";
    problems.push({ field: 'connect_to_network_router', message });
  }
  if ((request.router_id_to_connect ?? null) !== null && request.connect_to_network_router === false) {
    const message = 'Requires connect_to_network_router: true; leave one of them out.';
    problems.push({ field: 'router_id_to_connect', message });
  }
  return problems;
}
