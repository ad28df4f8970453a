import { canonicalAddress, type IpFamily } from '../../../../lib/cidr.ts';
import { type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { tagsOf } from '../../../../lib/legacy-metadata.ts';
import { type IpRoute, ipRoutesFrom } from '../../../../lib/next-hops.ts';
import { gatewayIn, type SubnetRange, subnetRange } from '../../../../lib/subnet-ranges.ts';
import type { CreateSubnet } from '../schema.ts';

export { gatewayIn, keepsGateway, lastKept, poolOf, subnetRange } from '../../../../lib/subnet-ranges.ts';

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
