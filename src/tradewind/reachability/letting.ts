import { contains, type IpFamily } from '../../lib/cidr.ts';
import type { LettingRule, MissingRule } from './schema.ts';

/** A connection as one side sees it. */
export interface Connection {
  direction: LettingRule['direction'];
  ethertype: IpFamily;
  /** Canonical; null for all protocols. */
  protocol: string | null;
  /** Null for all ports. */
  port: number | null;
  remote: { address: string; groupIds: readonly string[] };
}

/** Whether the rule lets all of the connection pass: without a protocol or port, only rules for all of them do. */
export function lets(
  rule: LettingRule,
  { direction, ethertype, protocol, port, remote }: Connection,
): boolean {
  if (rule.direction !== direction || rule.ethertype !== ethertype) return false;
  if (rule.protocol !== null && rule.protocol !== protocol) return false;
  const { port_range_min: lowest, port_range_max: highest } = rule;
  if (lowest !== null && (port === null || port < lowest || port > (highest ?? lowest))) return false;
  if (rule.remote_group_id !== null) return remote.groupIds.includes(rule.remote_group_id);
  return rule.remote_ip_prefix === null || contains(rule.remote_ip_prefix, remote.address);
}

/** The narrowest rule that would let the connection pass. */
export function missingFor({ direction, ethertype, protocol, port, remote }: Connection): MissingRule {
  return {
    direction,
    ethertype,
    protocol,
    port_range_min: port,
    port_range_max: port,
    remote_ip_prefix: `${remote.address}/${ethertype === 'IPv4' ? 32 : 128}`,
  };
}
