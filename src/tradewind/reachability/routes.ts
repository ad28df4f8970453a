import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { draftedRules } from '../../cloud/network/security-groups/service.ts';
import type { Sql } from '../../db/database.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { canonicalAddress, contains, createContains, type IpFamily } from '../../lib/cidr.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { BITS, canonicalProtocol, familyOf, numberOf, PORT_PROTOCOLS, protocolIn } from '../../lib/ip-addresses.ts';
import { grouped } from '../../lib/lists.ts';
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

/** Whether the rule is for all of the traffic: without a protocol or port, only rules for all of them are. */
function concerns(
  rule: schema.LettingRule,
  { direction, ethertype, protocol, port }: Omit<Connection, 'remote'>,
): boolean {
  if (rule.direction !== direction || rule.ethertype !== ethertype) return false;
  if (rule.protocol !== null && rule.protocol !== protocol) return false;
  const { port_range_min: lowest, port_range_max: highest } = rule;
  return lowest === null || (port !== null && port >= lowest && port <= (highest ?? lowest));
}

/** Whether the rule lets all of the connection pass. */
export function lets(rule: schema.LettingRule, connection: Connection, holds = contains): boolean {
  if (!concerns(rule, connection)) return false;
  const { remote } = connection;
  if (rule.remote_group_id !== null) return remote.groupIds.includes(rule.remote_group_id);
  const { remote_ip_prefix: prefix } = rule;
  if (prefix === null || isForAll(prefix)) return true;
  return remote.address !== schema.INTERNET && holds(prefix, remote.address);
}

/** The internet is let pass by such rules alone. */
const isForAll = (prefix: string | null): boolean => prefix === null || prefix.endsWith('/0');

/** The narrowest rule that would let the connection pass. */
export function missingFor({ direction, ethertype, protocol, port, remote }: Connection): schema.MissingRule {
  return {
    direction,
    ethertype,
    protocol,
    port_range_min: port,
    port_range_max: port,
    remote_ip_prefix: remote.address === schema.INTERNET ? null : `${remote.address}/${BITS[ethertype]}`,
  };
}

/** One end of a connection. Addresses without a port are anybody's. */
interface End {
  id: string;
  port: PortEnd | undefined;
  addresses: readonly string[];
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
    endOf(text: string): End {
      const port = ports.get(text.toLowerCase());
      if (port) return { id: port.id, port, addresses: port.addresses };
      const id = canonicalAddress(text)?.address ?? schema.INTERNET;
      return { id, port: undefined, addresses: [id] };
    },
  };
}

function pathBetween(from: End, to: End, routed: ReadonlySet<string>): schema.Reachability['path'] {
  if (!from.port || !to.port) return null;
  const [near, far] = [from.port.network_id, to.port.network_id];
  if (near === far) return 'network';
  return routed.has(`${near} ${far}`) ? 'router' : 'none';
}

type Traffic = Pick<schema.ReachabilityQuery, 'protocol' | 'port'>;

/**
 * Applies the rules of both ends to a connection. Address pairs and what runs in the machines are not looked at.
 * @throws InvalidError, NotFoundError for an unknown port and for another account's
 */
async function reachability(
  on: Platform,
  principal: Principal,
  { from, to, ...traffic }: schema.ReachabilityQuery,
): Promise<schema.Reachability> {
  refuseUnclear({ from, to }, traffic);
  const { rules, routed, endOf } = await readEnds(on, principal, [from, to]);
  const [source, target] = [endOf(from), endOf(to)];
  const path = pathBetween(source, target, routed);
  const flows = flowsBetween(source, target, traffic, rules);
  return { allowed: path !== 'none' && flows.some((flow) => flow.allowed), path, flows };
}

type GroupRules = ReadonlyMap<string, readonly schema.LettingRule[]>;
const FAMILIES = ['IPv4', 'IPv6'] as const;

/** @throws InvalidError, ConflictError, NotFoundError for ports and groups that are unknown or another account's */
async function reachabilityOfPairs(
  on: Platform,
  principal: Principal,
  { from, to, drafts, ...traffic }: schema.ReachabilityQuestion,
  gone: AbortSignal,
): Promise<schema.ReachabilityPairs> {
  const fields = (name: string, texts: readonly string[]) => texts.map((text, at) => [`${name}.${at}`, text]);
  refuseUnclear(Object.fromEntries([...fields('from', from), ...fields('to', to)]), traffic);
  const drafted = drafts && (await draftedRules(on, principal, drafts));
  const { rules: all, routed, endOf } = await readEnds(on, principal, [...from, ...to]);
  const rules = grouped(all, ({ security_group_id }) => security_group_id);
  // The rules of a draft have no ID yet, and only decide.
  const changed: GroupRules = new Map(
    [...(drafted ?? [])].map(([group, those]) => [
      group,
      those.map((rule) => ({ ...rule, id: '', security_group_id: group })),
    ]),
  );
  const breathe = turns();
  const judged = new Map<string, JudgedEnd>();
  async function judgedEnds(texts: readonly string[]): Promise<{ text: string; end: JudgedEnd }[]> {
    const found = new Map<string, { text: string; end: JudgedEnd }>();
    for (const text of texts) {
      // Nobody gets the answer then, or a refusal.
      if (gone.aborted) break;
      const end = endOf(text);
      if (found.has(end.id)) continue;
      const known = judged.get(end.id) ?? (await judge(end, { traffic, rules, changed, breathe }));
      judged.set(end.id, known);
      found.set(end.id, { text, end: known });
    }
    return [...found.values()];
  }
  const [senders, receivers] = [await judgedEnds(from), await judgedEnds(to)];
  const pairs: schema.ReachabilityPairs['pairs'] = [];
  for (const sender of senders) {
    for (const receiver of receivers) {
      const [source, target] = [sender.end, receiver.end];
      if (source.id === target.id || !(source.port || target.port)) continue;
      await breathe();
      if (gone.aborted) return { pairs };
      const path = pathBetween(source, target, routed);
      const passes = (rules: 'stored' | 'drafted', family: IpFamily): boolean =>
        path !== 'none' &&
        admits(source[rules].egress[family], target, family) &&
        admits(target[rules].ingress[family], source, family);
      const versions = FAMILIES.filter((family) => source.numbers[family] && target.numbers[family]).map(
        (ethertype) => ({
          ethertype,
          allowed: passes('stored', ethertype),
          drafted: drafted ? passes('drafted', ethertype) : null,
        }),
      );
      pairs.push({
        from: sender.text,
        to: receiver.text,
        path,
        allowed: versions.some((version) => version.allowed),
        drafted: drafted ? versions.some((version) => version.drafted) : null,
        ip_versions: versions,
      });
    }
  }
  return { pairs };
}

const TURN_MS = 5;

/** Returns a function to be called often in long work: others get their turn. */
function turns(): () => Promise<void> | undefined {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun < TURN_MS) return undefined;
    return setImmediate().then(() => {
      begun = performance.now();
    });
  };
}

/**
 * Whom the rules of an end let pass in one direction and IP version. That depends on the other end alone, so that two
 * ends with many addresses need not be compared address by address.
 */
interface Admission {
  everybody: boolean;
  groups: ReadonlySet<string>;
  /** In order, none inside another: blocks of addresses contain each other or have nothing in common. */
  blocks: readonly Block[];
}
interface Block {
  first: bigint;
  last: bigint;
}
type Admissions = Record<schema.LettingRule['direction'], Record<IpFamily, Admission>>;

interface JudgedEnd extends End {
  /** Its addresses by IP version; undefined if it has none. Those of the internet are nowhere in particular. */
  numbers: Record<IpFamily, readonly bigint[] | undefined>;
  stored: Admissions;
  drafted: Admissions;
}

interface Judging {
  traffic: Traffic;
  rules: GroupRules;
  /** The rules that drafts give to groups. */
  changed: GroupRules;
  breathe: ReturnType<typeof turns>;
}

async function judge(end: End, { traffic, rules, changed, breathe }: Judging): Promise<JudgedEnd> {
  const numbersIn = (family: IpFamily) => {
    if (end.id === schema.INTERNET) return [];
    const those = end.addresses.filter((address) => familyOf(address) === family);
    return those.length > 0 ? those.map(numberOf) : undefined;
  };
  const numbers = { IPv4: numbersIn('IPv4'), IPv6: numbersIn('IPv6') };
  const groups = groupsOf(end);
  const admissions = (of: (group: string) => readonly schema.LettingRule[]) =>
    admissionsOf(end, groups.flatMap(of), traffic, breathe);
  const stored = await admissions((group) => rules.get(group) ?? []);
  const drafted = groups.some((group) => changed.has(group))
    ? await admissions((group) => changed.get(group) ?? rules.get(group) ?? [])
    : stored;
  return { ...end, numbers, stored, drafted };
}

async function admissionsOf(
  { port }: End,
  rules: readonly schema.LettingRule[],
  { protocol, port: number }: Traffic,
  breathe: Judging['breathe'],
): Promise<Admissions> {
  async function inFamily(direction: schema.LettingRule['direction'], ethertype: IpFamily): Promise<Admission> {
    const everybody = { everybody: true, groups: new Set<string>(), blocks: [] };
    if (!port?.port_security_enabled) return everybody;
    const seen = { direction, ethertype, protocol: protocolIn(ethertype, protocol ?? null), port: number ?? null };
    const fitting = rules.filter((rule) => concerns(rule, seen));
    if (fitting.some((rule) => rule.remote_group_id === null && isForAll(rule.remote_ip_prefix))) return everybody;
    const blocks: Block[] = [];
    for (const prefix of new Set(fitting.flatMap(({ remote_ip_prefix }) => remote_ip_prefix ?? []))) {
      await breathe();
      blocks.push(blockOf(prefix, ethertype));
    }
    const groups = new Set(fitting.flatMap(({ remote_group_id }) => remote_group_id ?? []));
    return { everybody: false, groups, blocks: outermost(blocks) };
  }
  const inBoth = async (direction: schema.LettingRule['direction']) => ({
    IPv4: await inFamily(direction, 'IPv4'),
    IPv6: await inFamily(direction, 'IPv6'),
  });
  return { egress: await inBoth('egress'), ingress: await inBoth('ingress') };
}

function blockOf(prefix: string, family: IpFamily): Block {
  const [address = '', length] = prefix.split('/');
  const size = 1n << BigInt(BITS[family] - Number(length));
  const number = numberOf(address);
  const first = number - (number % size);
  return { first, last: first + size - 1n };
}

function outermost(blocks: readonly Block[]): Block[] {
  const kept: Block[] = [];
  // Of two that begin together, the larger one comes first.
  const order = (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0);
  for (const block of blocks.toSorted((one, other) => order(one.first, other.first) || order(other.last, one.last))) {
    const before = kept.at(-1);
    if (before === undefined || block.first > before.last) kept.push(block);
  }
  return kept;
}

function admits({ everybody, groups, blocks }: Admission, other: JudgedEnd, family: IpFamily): boolean {
  if (everybody || groupsOf(other).some((group) => groups.has(group))) return true;
  return blocks.length > 0 && (other.numbers[family] ?? []).some((number) => isInside(blocks, number));
}

function isInside(blocks: readonly Block[], number: bigint): boolean {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as Block).last < number) low = middle + 1;
    else high = middle;
  }
  return low < blocks.length && (blocks[low] as Block).first <= number;
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

function flowsBetween(
  from: End,
  to: End,
  { protocol, port }: Traffic,
  rules: readonly schema.LettingRule[],
): schema.Flow[] {
  const holds = createContains();
  /** What an end says about an address depends on nothing else: it is worked out once for each. */
  const sides = (end: End, other: End, direction: Connection['direction']) => {
    const groupIds = groupsOf(other);
    const own = rules.filter(({ security_group_id }) => groupsOf(end).includes(security_group_id));
    const known = new Map<string, schema.Side | null>();
    return (address: string, ethertype: IpFamily): schema.Side | null => {
      const key = `${address} ${ethertype}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const seen = { ethertype, protocol: protocolIn(ethertype, protocol ?? null), port: port ?? null };
      const side = sideOf(end, own, holds, { ...seen, direction, remote: { address, groupIds } });
      known.set(key, side);
      return side;
    };
  };
  const [out, into] = [sides(from, to, 'egress'), sides(to, from, 'ingress')];
  return from.addresses.flatMap((near) =>
    to.addresses.flatMap((far) => {
      const ethertype = commonFamily(near, far);
      if (!ethertype) return [];
      const [egress, ingress] = [out(far, ethertype), into(near, ethertype)];
      const allowed = (egress?.allowed ?? true) && (ingress?.allowed ?? true);
      return [{ ethertype, from_address: near, to_address: far, allowed, egress, ingress }];
    }),
  );
}

/** The internet has addresses of both. */
function commonFamily(near: string, far: string): IpFamily | undefined {
  const [one, other = one] = [near, far].filter((address) => address !== schema.INTERNET).map(familyOf);
  return one === other ? one : undefined;
}

/** Returns what the rules of one end say; null for an address, which has none here. */
function sideOf(
  { port }: End,
  rules: readonly schema.LettingRule[],
  holds: typeof contains,
  connection: Connection,
): schema.Side | null {
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
    handler: ({ principal, body }, reply) => reachabilityOfPairs(on, principal, body, goneSignal(reply)),
  });
}
