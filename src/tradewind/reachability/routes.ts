import { sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { canonicalAddress, contains, type IpFamily } from '../../lib/cidr.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { canonicalProtocol, familyOf, PORT_PROTOCOLS, protocolIn } from '../../lib/ip-addresses.ts';
import type { Platform } from '../../platform.ts';
import { ownsClient, type Principal } from '../../requests/principal.ts';
import * as schema from './schema.ts';

/** A port as security groups and networks see it. */
export interface PortEnd {
  id: string;
  client_id: number;
  network_id: string;
  port_security_enabled: boolean;
  addresses: string[];
  group_ids: string[];
}

/** Interfaces of routers are ports without groups. */
export async function findPorts(db: Sql, ids: readonly string[]): Promise<PortEnd[]> {
  const { rows } = await sql<PortEnd>`
    select ends.id, projects.client_id, network_id, port_security_enabled,
      array(select host(address) from ip_assignments where port_id = ends.id order by address) || own as addresses,
      array(select security_group_id::text from port_security_groups where port_id = ends.id) as group_ids
    from (
      select id, project_id, network_id, port_security_enabled, '{}'::text[] as own
      from ports where id = any(${ids}::uuid[])
      union all
      select port_id, routers.project_id, subnets.network_id, false, array[host(address)]
      from router_interfaces
        join routers on routers.id = router_id
        join subnets on subnets.id = subnet_id
      where port_id = any(${ids}::uuid[])
    ) as ends join projects on projects.id = project_id`.execute(db);
  return rows;
}

/** Returns the rules of these groups in a fixed order. */
export async function rulesOf(db: Sql, groupIds: readonly string[]): Promise<schema.LettingRule[]> {
  const { rows } = await sql<schema.LettingRule>`
    select id, security_group_id, direction, ethertype, protocol, port_range_min, port_range_max,
      remote_ip_prefix, remote_group_id
    from security_group_rules where security_group_id = any(${groupIds}::uuid[])
    order by created_at, position, id`.execute(db);
  return rows;
}

/** Whether one router has interfaces in both networks. */
export async function areRouted(db: Sql, one: string, other: string): Promise<boolean> {
  const { rows } = await sql<{ routed: boolean }>`
    select exists (
      select from router_interfaces as near
        join subnets as near_subnet on near_subnet.id = near.subnet_id
        join router_interfaces as far on far.router_id = near.router_id
        join subnets as far_subnet on far_subnet.id = far.subnet_id
      where near_subnet.network_id = ${one} and far_subnet.network_id = ${other}
    ) as routed`.execute(db);
  return rows[0]?.routed ?? false;
}

/** A connection as one side sees it. */
export interface Connection {
  direction: schema.LettingRule['direction'];
  ethertype: IpFamily;
  /** Canonical; null for all protocols. */
  protocol: string | null;
  /** Null for all ports. */
  port: number | null;
  remote: { address: string; groupIds: readonly string[] };
}

/** Whether the rule lets all of the connection pass: without a protocol or port, only rules for all of them do. */
export function lets(rule: schema.LettingRule, { direction, ethertype, protocol, port, remote }: Connection): boolean {
  if (rule.direction !== direction || rule.ethertype !== ethertype) return false;
  if (rule.protocol !== null && rule.protocol !== protocol) return false;
  const { port_range_min: lowest, port_range_max: highest } = rule;
  if (lowest !== null && (port === null || port < lowest || port > (highest ?? lowest))) return false;
  if (rule.remote_group_id !== null) return remote.groupIds.includes(rule.remote_group_id);
  return rule.remote_ip_prefix === null || contains(rule.remote_ip_prefix, remote.address);
}

/** The narrowest rule that would let the connection pass. */
export function missingFor({ direction, ethertype, protocol, port, remote }: Connection): schema.MissingRule {
  return {
    direction,
    ethertype,
    protocol,
    port_range_min: port,
    port_range_max: port,
    remote_ip_prefix: `${remote.address}/${ethertype === 'IPv4' ? 32 : 128}`,
  };
}

/** One end of a connection. An address without a port is anybody's. */
interface End {
  port: PortEnd | undefined;
  addresses: readonly string[];
}

async function path(on: Platform, from: End, to: End): Promise<schema.Reachability['path']> {
  if (!from.port || !to.port) return null;
  const [near, far] = [from.port.network_id, to.port.network_id];
  if (near === far) return 'network';
  return (await areRouted(on.database.sql, near, far)) ? 'router' : 'none';
}

/**
 * Applies the rules of both ports to a connection. Address pairs and what runs in the machines are not looked at.
 * @throws InvalidError, NotFoundError for an unknown port and for another account's
 */
export async function reachabilityBetween(
  on: Platform,
  principal: Principal,
  query: schema.ReachabilityQuery,
): Promise<schema.Reachability> {
  refuseUnclear(query);
  const wanted = [query.from, query.to].filter(isUuid).map((id) => id.toLowerCase());
  const ports = await findPorts(on.database.sql, wanted);
  const endOf = (text: string): End => {
    const address = canonicalAddress(text)?.address;
    if (address !== undefined) return { port: undefined, addresses: [address] };
    const port = ports.find(({ id }) => id === text.toLowerCase());
    if (!port || !ownsClient(principal, port.client_id)) throw new NotFoundError('Port', text);
    return { port, addresses: port.addresses };
  };
  const [from, to] = [endOf(query.from), endOf(query.to)];
  const rules = await rulesOf(on.database.sql, [...groupsOf(from), ...groupsOf(to)]);
  const flows = flowsBetween(from, to, { query, rules });
  const way = await path(on, from, to);
  return { allowed: way !== 'none' && flows.some((flow) => flow.allowed), path: way, flows };
}

function refuseUnclear({ from, to, protocol, port }: schema.ReachabilityQuery): void {
  const problems: FieldProblem[] = [];
  for (const [field, text] of Object.entries({ from, to })) {
    if (isUuid(text) || canonicalAddress(text)) continue;
    problems.push({ field, message: 'Must be the ID of a port, or an IP address such as 10.0.0.5.' });
  }
  if (problems.length === 0 && !isUuid(from) && !isUuid(to)) {
    problems.push({
      field: 'to',
      message: 'One of both ends must be a port; addresses alone have no rules.',
    });
  }
  const named = canonicalProtocol(protocol ?? null);
  if (port !== undefined && (named === null || !PORT_PROTOCOLS.includes(named))) {
    const message = `Needs a protocol with ports: ${PORT_PROTOCOLS.join(', ')}.`;
    problems.push({ field: 'port', message });
  }
  if (problems.length > 0) throw new InvalidError(problems);
}

interface Asked {
  query: schema.ReachabilityQuery;
  rules: readonly schema.LettingRule[];
}

function flowsBetween(from: End, to: End, asked: Asked): schema.Flow[] {
  return from.addresses.flatMap((near) =>
    to.addresses.flatMap((far) => {
      const ethertype = familyOf(near);
      return ethertype === familyOf(far) ? flow({ end: from, near }, { end: to, far }, ethertype, asked) : [];
    }),
  );
}

function flow(
  source: { end: End; near: string },
  target: { end: End; far: string },
  ethertype: IpFamily,
  { query, rules }: Asked,
): schema.Flow {
  const seen = {
    ethertype,
    protocol: protocolIn(ethertype, query.protocol ?? null),
    port: query.port ?? null,
  };
  const egress = sideOf(source.end, rules, {
    ...seen,
    direction: 'egress',
    remote: { address: target.far, groupIds: groupsOf(target.end) },
  });
  const ingress = sideOf(target.end, rules, {
    ...seen,
    direction: 'ingress',
    remote: { address: source.near, groupIds: groupsOf(source.end) },
  });
  const allowed = (egress?.allowed ?? true) && (ingress?.allowed ?? true);
  return { ethertype, from_address: source.near, to_address: target.far, allowed, egress, ingress };
}

/** Returns what the rules of one end say; null for an address, which has none here. */
function sideOf({ port }: End, rules: readonly schema.LettingRule[], connection: Connection): schema.Side | null {
  if (!port) return null;
  const side = { port_id: port.id, rule: null, missing: null };
  if (!port.port_security_enabled) return { ...side, allowed: true, reason: 'port security is off' };
  const own = new Set(port.group_ids);
  const rule = rules.find((one) => own.has(one.security_group_id) && lets(one, connection));
  if (rule) return { ...side, allowed: true, reason: 'rule', rule };
  return { ...side, allowed: false, reason: 'no rule', missing: missingFor(connection) };
}

const groupsOf = ({ port }: End): string[] => port?.group_ids ?? [];

export function reachabilityRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Ports'] });

  api.get('/tradewind/v1/reachability', 'getReachability', 'Whether one port reaches another', {
    refuses: [404],
    description:
      'Whether the security groups let a connection pass, by which rule, or for want of which. Answers to an allowed connection always pass.',
    query: schema.ReachabilityQuery,
    answer: schema.Reachability,
    handler: ({ principal, query }) => reachabilityBetween(on, principal, query),
  });
}
