import { contains, createContains, type IpFamily } from '../../lib/cidr.ts';
import { BITS, familyOf, protocolIn } from '../../lib/ip-addresses.ts';
import * as schema from './schema.ts';

/** A port as security groups and networks see it. */
export interface PortEnd {
  id: string;
  project_id: number;
  client_id: number;
  network_id: string;
  port_security_enabled: boolean;
  addresses: string[];
  group_ids: string[];
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
export function concerns(
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
export const isForAll = (prefix: string | null): boolean => prefix === null || prefix.endsWith('/0');

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
export interface End {
  id: string;
  port: PortEnd | undefined;
  addresses: readonly string[];
}

export const groupsOf = ({ port }: End): string[] => port?.group_ids ?? [];

export type Traffic = Pick<schema.ReachabilityQuery, 'protocol' | 'port'>;

export function flowsBetween(
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
