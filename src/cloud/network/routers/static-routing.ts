import { contains } from '../../../lib/cidr.ts';
import type { FieldProblem } from '../../../lib/errors.ts';
import { type IpRoute, ipRoutesFrom } from '../../../lib/next-hops.ts';

/** The default of Neutron's max_routes. */
const MAX_ROUTES = 30;

/** A range that a router reaches directly, and its own address there. */
export interface Reach {
  cidr: string;
  address: string;
}

export const routesFrom = (given: readonly IpRoute[]) =>
  ipRoutesFrom(given, { field: 'routes', most: MAX_ROUTES });

/** As in Neutron: the next hop must be in a range of the router, and must not be the router itself. */
export function unreachable(routes: readonly IpRoute[], reach: readonly Reach[]): FieldProblem[] {
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

/** Whether two ranges have addresses in common. One of them then contains the other. */
export function overlap(one: string, other: string): boolean {
  const base = (cidr: string) => cidr.slice(0, cidr.indexOf('/'));
  return contains(one, base(other)) || contains(other, base(one));
}
