import { canonicalAddress, canonicalCidr, hostBitsFault, type IpFamily } from '../../../lib/cidr.ts';
import type { FieldProblem } from '../../../lib/errors.ts';

export interface HostRoute {
  destination: string;
  nexthop: string;
}

/** The defaults of Neutron's max_dns_nameservers and max_subnet_host_routes. */
const MAX_NAMESERVERS = 5;
const MAX_HOST_ROUTES = 20;
const EXAMPLES: Record<IpFamily, HostRoute> = {
  IPv4: { destination: '192.168.0.0/16', nexthop: '10.10.0.5' },
  IPv6: { destination: 'fd00:20::/48', nexthop: 'fd00:10::5' },
};

export function nameserversFrom(given: string[]): { nameservers: string[]; problems: FieldProblem[] } {
  const field = 'dns_nameservers';
  const problems: FieldProblem[] = [];
  if (given.length > MAX_NAMESERVERS) {
    problems.push({
      field,
      message: `Too many name servers: at most ${MAX_NAMESERVERS} are allowed, but the request has ${given.length}.`,
    });
  }
  const nameservers = given.flatMap((text, index) => {
    const address = canonicalAddress(text)?.address;
    if (address !== undefined) return [address];
    problems.push({ field: `${field}.${index}`, message: 'Must be an IP address such as 1.1.1.1.' });
    return [];
  });
  if (new Set(nameservers).size < nameservers.length) {
    problems.push({ field, message: 'Contains the same server twice; list it once.' });
  }
  return { nameservers, problems };
}

/** Checks the host routes of a subnet of the given family. */
export function hostRoutesFrom(
  given: HostRoute[],
  family: IpFamily,
): { routes: HostRoute[]; problems: FieldProblem[] } {
  const field = 'host_routes';
  const problems: FieldProblem[] = [];
  if (given.length > MAX_HOST_ROUTES) {
    problems.push({
      field,
      message: `Too many routes: at most ${MAX_HOST_ROUTES} are allowed, but the request has ${given.length}.`,
    });
  }
  const routes = given.flatMap((route, index) => {
    const destination = canonicalCidr(route.destination);
    const nexthop = canonicalAddress(route.nexthop);
    const hostBits = destination && hostBitsFault(destination);
    if (destination?.family !== family || hostBits !== undefined) {
      const range = `Must be an ${family} CIDR such as ${EXAMPLES[family].destination}.`;
      problems.push({ field: `${field}.${index}.destination`, message: hostBits ?? range });
    }
    if (nexthop?.family !== family) {
      problems.push({
        field: `${field}.${index}.nexthop`,
        message: `Must be an ${family} address such as ${EXAMPLES[family].nexthop}.`,
      });
    }
    return destination && nexthop ? [{ destination: destination.network, nexthop: nexthop.address }] : [];
  });
  if (new Set(routes.map((route) => `${route.destination} ${route.nexthop}`)).size < routes.length) {
    problems.push({ field, message: 'Contains the same route twice; list it once.' });
  }
  return { routes, problems };
}
