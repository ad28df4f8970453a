import { canonicalCidr, type IpFamily } from '../../../../lib/cidr.ts';
import { protocolIn } from '../../../../lib/ip-addresses.ts';

export type Direction = 'ingress' | 'egress';

/** A rule in a request. The schema has checked types and ranges. */
export interface RuleInput {
  direction: Direction;
  ethertype?: IpFamily | null;
  protocol?: string | null;
  port_range_min?: number | null;
  port_range_max?: number | null;
  remote_ip_prefix?: string | null;
  remote_group_id?: string | null;
  description?: string | null;
}

/** A rule as it is stored and answered. Null means all protocols or ports; no prefix and no group mean everyone. */
export interface CanonicalRule {
  direction: Direction;
  ethertype: IpFamily;
  protocol: string | null;
  port_range_min: number | null;
  port_range_max: number | null;
  remote_ip_prefix: string | null;
  remote_group_id: string | null;
  description: string;
}

/**
 * Returns the canonical form of a rule, before anything is checked or stored, in Neutron's order (securitygroups_db).
 * A canonical rule doesn't change. Never throws: what can't be parsed stays, and `ruleProblems` refuses it.
 */
export function canonicalRule(input: RuleInput): CanonicalRule {
  const ethertype = input.ethertype ?? 'IPv4';
  const everyPort = input.port_range_min === 1 && input.port_range_max === 65535;
  return {
    direction: input.direction,
    ethertype,
    protocol: protocolIn(ethertype, input.protocol ?? null),
    port_range_min: everyPort ? null : (input.port_range_min ?? null),
    port_range_max: everyPort ? null : (input.port_range_max ?? null),
    remote_ip_prefix: prefixOf(input.remote_ip_prefix ?? null),
    remote_group_id: input.remote_group_id?.toLowerCase() ?? null,
    description: input.description ?? '',
  };
}

function prefixOf(prefix: string | null): string | null {
  return prefix === null ? null : (canonicalCidr(prefix)?.cidr ?? prefix);
}
