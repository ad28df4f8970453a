import { sql } from 'kysely';
import { draftedRules } from '../../cloud/network/security-groups/service.ts';
import type { Sql } from '../../db/database.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { canonicalAddress, type IpFamily } from '../../lib/cidr.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { canonicalProtocol, PORT_PROTOCOLS } from '../../lib/ip-addresses.ts';
import { grouped } from '../../lib/lists.ts';
import type { Platform } from '../../platform.ts';
import { ownsClient, type Principal, seesProject } from '../../requests/principal.ts';
import { admits, type GroupRules, type JudgedEnd, judge, turns } from './admission.ts';
import { type End, flowsBetween, type PortEnd, type Traffic } from './letting.ts';
import * as schema from './schema.ts';

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
