import { canonicalAddress, type IpFamily } from '../../../../lib/cidr.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { type IpRoute, ipRoutesFrom } from '../../../../lib/next-hops.ts';

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

/** Checks the host routes of a subnet of the given family. */
export const hostRoutesFrom = (given: readonly IpRoute[], family: IpFamily) =>
  ipRoutesFrom(given, { field: 'host_routes', most: MAX_HOST_ROUTES, family });
