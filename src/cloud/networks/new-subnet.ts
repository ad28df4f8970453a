import ipaddr from 'ipaddr.js';
import { canonicalAddress, canonicalCidr } from '../../lib/cidr.ts';
import type { FieldProblem } from '../../lib/errors.ts';

export interface HostRoute {
  destination: string;
  nexthop: string;
}

/** A range of IPv4 addresses and what of it is handed out. */
export interface SubnetRange {
  /** Its network address with the mask. */
  cidr: string;
  /** First and last address that hosts may have. */
  firstHost: string;
  lastHost: string;
}

/** A /8 has as many addresses as anybody needs in private; a /29 still has five beside the gateway. */
const LARGEST = 8;
const SMALLEST = 29;
/** Ranges that mean something else to every machine (RFC 6890). */
const SPECIAL = new Set(['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast']);
const CLASS_E = 240;
/** As Neutron's max_dns_nameservers and max_subnet_host_routes have it by default. */
const MAX_NAMESERVERS = 5;
const MAX_HOST_ROUTES = 20;

/** The range that a request names, host bits cleared, or what is wrong with it. */
export function subnetRange(text: string): SubnetRange | FieldProblem {
  const field = 'cidr';
  const found = canonicalCidr(text);
  if (!found) return { field, message: 'Must be a range of addresses with its mask, such as 10.10.0.0/24.' };
  if (found.family !== 'IPv4') {
    return { field, message: 'IPv6 subnets are not offered yet; use an IPv4 range such as 10.10.0.0/24.' };
  }
  const [base, mask] = ipaddr.IPv4.parseCIDR(found.network);
  if (mask < LARGEST || mask > SMALLEST) {
    return { field, message: `The mask must be from /${LARGEST} to /${SMALLEST}; this one is /${mask}.` };
  }
  if (SPECIAL.has(base.range()) || (base.octets[0] ?? 0) >= CLASS_E) {
    return {
      field,
      message: `${found.network} is kept for other use; take a private range such as 10.10.0.0/24.`,
    };
  }
  const network = toNumber(base.toString());
  return {
    cidr: found.network,
    firstHost: toText(network + 1),
    lastHost: toText(network + 2 ** (32 - mask) - 2),
  };
}

/** The gateway, null for none; a missing one is the first address. */
export function gatewayIn(
  range: SubnetRange,
  given: string | null | undefined,
): string | null | FieldProblem {
  if (given === null) return null;
  if (given === undefined) return range.firstHost;
  const address = canonicalAddress(given)?.address;
  if (address !== undefined && isBetween(range.firstHost, address, range.lastHost)) return address;
  return {
    field: 'gateway_ip',
    message: `Must be an address from ${range.firstHost} to ${range.lastHost}, or null for no gateway.`,
  };
}

/** The addresses that ports may get. Those of a gateway in the middle are among them, and kept by `keepsGateway`. */
export function poolOf(
  { firstHost, lastHost }: SubnetRange,
  gateway: string | null,
): { first: string; last: string } {
  return {
    first: gateway === firstHost ? toText(toNumber(firstHost) + 1) : firstHost,
    last: gateway === lastHost ? toText(toNumber(lastHost) - 1) : lastHost,
  };
}

/** Whether the gateway would be handed out to a port, unless it is kept. */
export function keepsGateway(
  pool: { first: string; last: string },
  gateway: string | null,
): gateway is string {
  return gateway !== null && isBetween(pool.first, gateway, pool.last);
}

export function nameserversFrom(given: string[]): { nameservers: string[]; problems: FieldProblem[] } {
  const field = 'dns_nameservers';
  const problems: FieldProblem[] = [];
  if (given.length > MAX_NAMESERVERS) {
    problems.push({ field, message: `At most ${MAX_NAMESERVERS} are allowed, ${given.length} were given.` });
  }
  const nameservers = given.flatMap((text, index) => {
    const address = canonicalAddress(text)?.address;
    if (address !== undefined) return [address];
    problems.push({ field: `${field}.${index}`, message: 'Must be an IP address such as 1.1.1.1.' });
    return [];
  });
  if (new Set(nameservers).size < nameservers.length) {
    problems.push({ field, message: 'Names the same server twice; send it once.' });
  }
  return { nameservers, problems };
}

export function hostRoutesFrom(given: HostRoute[]): { routes: HostRoute[]; problems: FieldProblem[] } {
  const field = 'host_routes';
  const problems: FieldProblem[] = [];
  if (given.length > MAX_HOST_ROUTES) {
    problems.push({ field, message: `At most ${MAX_HOST_ROUTES} are allowed, ${given.length} were given.` });
  }
  const routes = given.flatMap((route, index) => {
    const destination = canonicalCidr(route.destination);
    const nexthop = canonicalAddress(route.nexthop);
    if (destination?.family !== 'IPv4') {
      const message = 'Must be a range of IPv4 addresses such as 192.168.0.0/16.';
      problems.push({ field: `${field}.${index}.destination`, message });
    }
    if (nexthop?.family !== 'IPv4') {
      problems.push({
        field: `${field}.${index}.nexthop`,
        message: 'Must be an IPv4 address such as 10.10.0.5.',
      });
    }
    return destination && nexthop ? [{ destination: destination.network, nexthop: nexthop.address }] : [];
  });
  if (new Set(routes.map((route) => `${route.destination} ${route.nexthop}`)).size < routes.length) {
    problems.push({ field, message: 'Has the same route twice; send it once.' });
  }
  return { routes, problems };
}

/** Whether an IPv4 address lies in the range, both ends included. All are in their one text form. */
export function isBetween(first: string, address: string, last: string): boolean {
  if (address.includes(':') || first.includes(':')) return false;
  const number = toNumber(address);
  return toNumber(first) <= number && number <= toNumber(last);
}

function toNumber(address: string): number {
  return ipaddr.IPv4.parse(address).octets.reduce((number, octet) => number * 256 + octet, 0);
}

function toText(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
