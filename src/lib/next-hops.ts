import { canonicalAddress, canonicalCidr, hostBitsFault, type IpFamily } from './cidr.ts';
import type { FieldProblem } from './errors.ts';

export interface IpRoute {
  destination: string;
  nexthop: string;
}

const EXAMPLES: Record<IpFamily, IpRoute> = {
  IPv4: { destination: '192.168.0.0/16', nexthop: '10.10.0.5' },
  IPv6: { destination: 'fd00:20::/48', nexthop: 'fd00:10::5' },
};

/**
 * Returns the routes of a request in canonical form. Without a family, each may be of its own, and its next hop is of
 * the same.
 */
export function ipRoutesFrom(
  given: readonly IpRoute[],
  { field, most, family: only }: { field: string; most: number; family?: IpFamily },
): { routes: IpRoute[]; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  if (given.length > most) {
    problems.push({
      field,
      message: `Too many routes: at most ${most} are allowed, but the request has ${given.length}.`,
    });
  }
  const routes = given.flatMap((route, index) => {
    const destination = canonicalCidr(route.destination);
    const nexthop = canonicalAddress(route.nexthop);
    const hostBits = destination && hostBitsFault(destination);
    const family = only ?? destination?.family ?? nexthop?.family ?? 'IPv4';
    if (destination?.family !== family || hostBits !== undefined) {
      const range = `Must be an ${family} CIDR such as ${EXAMPLES[family].destination}.`;
      problems.push({ field: `${field}.${index}.destination`, message: hostBits ?? range });
    }
    if (nexthop?.family !== family) {
      const message = `Must be an ${family} address such as ${EXAMPLES[family].nexthop}.`;
      problems.push({ field: `${field}.${index}.nexthop`, message });
    }
    return destination && nexthop ? [{ destination: destination.network, nexthop: nexthop.address }] : [];
  });
  if (new Set(routes.map((route) => `${route.destination} ${route.nexthop}`)).size < routes.length) {
    problems.push({ field, message: 'Contains the same route twice; list it once.' });
  }
  return { routes, problems };
}
