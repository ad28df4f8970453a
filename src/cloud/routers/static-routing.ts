import ipaddr from 'ipaddr.js';
import { canonicalAddress, canonicalCidr, hostBitsFault } from '../../lib/cidr.ts';
import type { FieldProblem } from '../../lib/errors.ts';
import type { StaticRoute } from './tables.ts';

/** The default of Neutron's max_routes. */
const MAX_ROUTES = 30;

/** A range that a router reaches directly, and its own address there. */
export interface Reach {
  cidr: string;
  address: string;
}

/** Returns the routes in canonical form. */
export function routesFrom(given: readonly StaticRoute[]): {
  routes: StaticRoute[];
  problems: FieldProblem[];
} {
  const field = 'routes';
  const problems: FieldProblem[] = [];
  if (given.length > MAX_ROUTES) {
    problems.push({
      field,
      message: `Too many routes: at most ${MAX_ROUTES} are allowed, but the request has ${given.length}.`,
    });
  }
  const routes = given.flatMap((route, index) => {
    const destination = canonicalCidr(route.destination);
    const nexthop = canonicalAddress(route.nexthop);
    const hostBits = destination && hostBitsFault(destination);
    if (!destination || hostBits !== undefined) {
      const message = hostBits ?? 'Must be a CIDR such as 192.168.0.0/16.';
      problems.push({ field: `${field}.${index}.destination`, message });
    }
    if (!nexthop) {
      problems.push({
        field: `${field}.${index}.nexthop`,
        message: 'Must be an IP address such as 10.10.0.5.',
      });
    } else if (destination && destination.family !== nexthop.family) {
      const message = `Must be an ${destination.family} address, like the destination.`;
      problems.push({ field: `${field}.${index}.nexthop`, message });
    }
    return destination && nexthop ? [{ destination: destination.network, nexthop: nexthop.address }] : [];
  });
  if (new Set(routes.map((route) => `${route.destination} ${route.nexthop}`)).size < routes.length) {
    problems.push({ field, message: 'Contains the same route twice; list it once.' });
  }
  return { routes, problems };
}

/** As in Neutron: the next hop must be in a range of the router, and must not be the router itself. */
export function unreachable(routes: readonly StaticRoute[], reach: readonly Reach[]): FieldProblem[] {
  return routes.flatMap(({ nexthop }, index): FieldProblem[] => {
    const field = `routes.${index}.nexthop`;
    if (reach.some(({ address }) => address === nexthop)) {
      return [{ field, message: `${nexthop} is an address of the router itself.` }];
    }
    return reach.some(({ cidr }) => contains(cidr, nexthop))
      ? []
      : [{ field, message: `${nexthop} is in no subnet of the router, nor in its external network.` }];
  });
}

export function contains(cidr: string, address: string): boolean {
  const [[base, mask], other] = [ipaddr.parseCIDR(cidr), ipaddr.parse(address)];
  return base.kind() === other.kind() && other.match(base, mask);
}

/** Whether two ranges have addresses in common. One of them then contains the other. */
export function overlap(one: string, other: string): boolean {
  const base = (cidr: string) => cidr.slice(0, cidr.indexOf('/'));
  return contains(one, base(other)) || contains(other, base(one));
}
