import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { draftedRules } from '../../cloud/network/security-groups/service.ts';
import type { Sql } from '../../db/database.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { canonicalAddress, contains, createContains, type IpFamily } from '../../lib/cidr.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { canonicalProtocol, familyOf, PORT_PROTOCOLS, protocolIn } from '../../lib/ip-addresses.ts';
import type { Platform } from '../../platform.ts';
import { ownsClient, type Principal, seesProject } from '../../requests/principal.ts';
import * as schema from './schema.ts';

/** A port as security groups and networks see it. */
interface PortEnd {
  id: string;
  project_id: number;
  client_id: number;
  network_id: string;
  port_security_enabled: boolean;
  addresses: string[];
  group_ids: string[];
}

/** Interfaces of routers are ports without groups. */
async function findPorts(db: Sql, ids: readonly string[]): Promise<PortEnd[]> {
  const { rows } = await sql<PortEnd>`
    select ends.id, project_id, projects.client_id, network_id, port_security_enabled,
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
async function rulesOf(db: Sql, groupIds: readonly string[]): Promise<schema.LettingRule[]> {
  const { rows } = await sql<schema.LettingRule>`
    select id, security_group_id, direction, ethertype, protocol, port_range_min, port_range_max,
      remote_ip_prefix, remote_group_id
    from security_group_rules where security_group_id = any(${groupIds}::uuid[])
    order by created_at, position, id`.execute(db);
  return rows;
}

/** Returns which pairs of these networks one router has interfaces in. */
async function routedPairs(db: Sql, networkIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ near: string; far: string }>`
    select distinct near_subnet.network_id as near, far_subnet.network_id as far
    from router_interfaces as near
      join subnets as near_subnet on near_subnet.id = near.subnet_id
      join router_interfaces as far on far.router_id = near.router_id
      join subnets as far_subnet on far_subnet.id = far.subnet_id
    where near_subnet.network_id = any(${networkIds}::uuid[]) and far_subnet.network_id = any(${networkIds}::uuid[])
  `.execute(db);
  return new Set(rows.map(({ near, far }) => `${near} ${far}`));
}

/** A connection as one side sees it. */
export interface Connection {
  direction: schema.LettingRule['direction'];
  ethertype: IpFamily;
  /** Canonical; null for all protocols. */
  protocol: string | null;
  /** Null for all ports. */
  port: number | null;
  remote: { /** Or the internet. */ address: string; groupIds: readonly string[] };
}

/** Whether the rule lets all of the connection pass: without a protocol or port, only rules for all of them do. */
export function lets(
  rule: schema.LettingRule,
  { direction, ethertype, protocol, port, remote }: Connection,
  holds = contains,
): boolean {
  if (rule.direction !== direction || rule.ethertype !== ethertype) return false;
  if (rule.protocol !== null && rule.protocol !== protocol) return false;
  const { port_range_min: lowest, port_range_max: highest } = rule;
  if (lowest !== null && (port === null || port < lowest || port > (highest ?? lowest))) return false;
  if (rule.remote_group_id !== null) return remote.groupIds.includes(rule.remote_group_id);
  const { remote_ip_prefix: prefix } = rule;
  if (prefix === null) return true;
  return remote.address === schema.INTERNET ? prefix.endsWith('/0') : holds(prefix, remote.address);
}

/** The narrowest rule that would let the connection pass. */
export function missingFor({ direction, ethertype, protocol, port, remote }: Connection): schema.MissingRule {
  return {
    direction,
    ethertype,
    protocol,
    port_range_min: port,
    port_range_max: port,
    remote_ip_prefix:
      remote.address === schema.INTERNET ? null : `${remote.address}/${ethertype === 'IPv4' ? 32 : 128}`,
  };
}

/** One end of a connection. Addresses without a port are anybody's. */
interface End {
  id: string;
  port: PortEnd | undefined;
  addresses: readonly string[];
  /** Of its groups. */
  rules: readonly schema.LettingRule[];
}

/**
 * Reads all that decides about connections between these ends, by as many queries for many ends as for two.
 * @throws NotFoundError for an unknown port and for another account's
 */
async function readEnds(on: Platform, principal: Principal, texts: readonly string[]) {
  const db = on.database.sql;
  const found = await findPorts(db, [...new Set(texts.filter(isUuid).map((id) => id.toLowerCase()))]);
  const own = found.filter((port) => ownsClient(principal, port.client_id) && seesProject(principal, port.project_id));
  const ports = new Map(own.map((port) => [port.id, port]));
  const missing = texts.find((text) => isUuid(text) && !ports.has(text.toLowerCase()));
  if (missing !== undefined) throw new NotFoundError('Port', missing);
  const networks = [...new Set(own.map(({ network_id }) => network_id))];
  return {
    rules: await rulesOf(db, [...new Set(own.flatMap(({ group_ids }) => group_ids))]),
    routed: networks.length > 1 ? await routedPairs(db, networks) : new Set<string>(),
    endOf(text: string, rules: readonly schema.LettingRule[]): End {
      const port = ports.get(text.toLowerCase());
      if (port) {
        const groups = new Set(port.group_ids);
        const ofPort = rules.filter(({ security_group_id }) => groups.has(security_group_id));
        return { id: port.id, port, addresses: port.addresses, rules: ofPort };
      }
      const id = canonicalAddress(text)?.address ?? schema.INTERNET;
      return { id, port: undefined, addresses: [id], rules: [] };
    },
  };
}

function pathBetween(from: End, to: End, routed: ReadonlySet<string>): schema.Reachability['path'] {
  if (!from.port || !to.port) return null;
  const [near, far] = [from.port.network_id, to.port.network_id];
  if (near === far) return 'network';
  return routed.has(`${near} ${far}`) ? 'router' : 'none';
}

/** Applies the rules of both ends to a connection. Address pairs and what runs in the machines are not looked at. */
function between(from: End, to: End, asked: Asked, routed: ReadonlySet<string>): schema.Reachability {
  const path = pathBetween(from, to, routed);
  const flows = flowsBetween(from, to, asked);
  return { allowed: path !== 'none' && flows.some((flow) => flow.allowed), path, flows };
}

type Traffic = Pick<schema.ReachabilityQuery, 'protocol' | 'port'>;
/** With what tells whether a range holds an address. */
type Asked = Traffic & { holds: typeof contains };

/** @throws InvalidError, NotFoundError for an unknown port and for another account's */
async function reachability(
  on: Platform,
  principal: Principal,
  { from, to, ...traffic }: schema.ReachabilityQuery,
): Promise<schema.Reachability> {
  refuseUnclear({ from, to }, traffic);
  const { rules, routed, endOf } = await readEnds(on, principal, [from, to]);
  return between(endOf(from, rules), endOf(to, rules), { ...traffic, holds: createContains() }, routed);
}

/** @throws InvalidError, ConflictError, NotFoundError for ports and groups that are unknown or another account's */
async function reachabilityOfPairs(
  on: Platform,
  principal: Principal,
  { from, to, drafts, ...traffic }: schema.ReachabilityQuestion,
): Promise<schema.ReachabilityPairs> {
  const fields = (name: string, texts: readonly string[]) => texts.map((text, at) => [`${name}.${at}`, text]);
  refuseUnclear(Object.fromEntries([...fields('from', from), ...fields('to', to)]), traffic);
  const drafted = drafts && (await draftedRules(on, principal, drafts));
  const { rules, routed, endOf } = await readEnds(on, principal, [...from, ...to]);
  const kept = rules.filter(({ security_group_id }) => !drafted?.has(security_group_id));
  const wanted = drafted && [
    ...kept,
    // Their rules have no ID yet, and only decide.
    ...[...drafted].flatMap(([group, those]) => those.map((rule) => ({ ...rule, id: '', security_group_id: group }))),
  ];
  const endsOf = (texts: readonly string[]) =>
    [...new Set(texts)].map((text) => ({
      text,
      stored: endOf(text, rules),
      drafted: wanted && endOf(text, wanted),
    }));
  const receivers = endsOf(to);
  const asked = { ...traffic, holds: createContains() };
  const pairs: schema.ReachabilityPairs['pairs'] = [];
  for (const sender of endsOf(from)) {
    for (const receiver of receivers) {
      if (sender.stored.id === receiver.stored.id || !(sender.stored.port || receiver.stored.port)) continue;
      // The ports of one pair may have thousands of rules: others get their turn.
      await setImmediate();
      const { allowed, path } = between(sender.stored, receiver.stored, asked, routed);
      const after = sender.drafted && receiver.drafted && between(sender.drafted, receiver.drafted, asked, routed);
      pairs.push({ from: sender.text, to: receiver.text, path, allowed, drafted: after?.allowed ?? null });
    }
  }
  return { pairs };
}

/** Takes ends by the names of their fields. */
function refuseUnclear(ends: Readonly<Record<string, string>>, { protocol, port }: Traffic): void {
  const problems: FieldProblem[] = [];
  for (const [field, text] of Object.entries(ends)) {
    if (isUuid(text) || canonicalAddress(text) || text === schema.INTERNET) continue;
    const message = `Must be the ID of a port, an IP address such as 10.0.0.5, or ${schema.INTERNET}.`;
    problems.push({ field, message });
  }
  if (problems.length === 0 && !Object.values(ends).some(isUuid)) {
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

function flowsBetween(from: End, to: End, asked: Asked): schema.Flow[] {
  return from.addresses.flatMap((near) =>
    to.addresses.flatMap((far) => {
      const ethertype = commonFamily(near, far);
      return ethertype ? flow({ end: from, near }, { end: to, far }, ethertype, asked) : [];
    }),
  );
}

/** The internet has addresses of both. */
function commonFamily(near: string, far: string): IpFamily | undefined {
  const [one, other = one] = [near, far].filter((address) => address !== schema.INTERNET).map(familyOf);
  return one === other ? one : undefined;
}

function flow(
  source: { end: End; near: string },
  target: { end: End; far: string },
  ethertype: IpFamily,
  { protocol, port, holds }: Asked,
): schema.Flow {
  const seen = { ethertype, protocol: protocolIn(ethertype, protocol ?? null), port: port ?? null };
  const egress = sideOf(source.end, holds, {
    ...seen,
    direction: 'egress',
    remote: { address: target.far, groupIds: groupsOf(target.end) },
  });
  const ingress = sideOf(target.end, holds, {
    ...seen,
    direction: 'ingress',
    remote: { address: source.near, groupIds: groupsOf(source.end) },
  });
  const allowed = (egress?.allowed ?? true) && (ingress?.allowed ?? true);
  return { ethertype, from_address: source.near, to_address: target.far, allowed, egress, ingress };
}

/** Returns what the rules of one end say; null for an address, which has none here. */
function sideOf({ port, rules }: End, holds: typeof contains, connection: Connection): schema.Side | null {
  if (!port) return null;
  const side = { port_id: port.id, rule: null, missing: null };
  if (!port.port_security_enabled) return { ...side, allowed: true, reason: 'port security is off' };
  const rule = rules.find((one) => lets(one, connection, holds));
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
    handler: ({ principal, query }) => reachability(on, principal, query),
  });

  api.post('/tradewind/v1/reachability', 'askReachability', 'Which ports reach which, before and after a change', {
    access: 'read',
    onlyAsks: true,
    refuses: [404, 409],
    description:
      'The same for many pairs at once, and with other rules for security groups. Nothing is changed. A draft with the same rule twice is refused with 409.',
    body: schema.ReachabilityQuestion,
    answer: schema.ReachabilityPairs,
    handler: ({ principal, body }) => reachabilityOfPairs(on, principal, body),
  });
}
