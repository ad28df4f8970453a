import { canonicalCidr, type IpFamily } from '../../../../lib/cidr.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { protocolIn } from '../../../../lib/ip-addresses.ts';

export type Direction = 'ingress' | 'egress';

/** A rule in a request. The schema has checked types and ranges. */
export type RuleInput = Pick<CanonicalRule, 'direction'> & {
  [Field in Exclude<keyof CanonicalRule, 'direction'>]?: CanonicalRule[Field] | null;
};

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

const EVERYONE: ReadonlySet<string | null> = new Set(['0.0.0.0/0', '::/0', null]);

/**
 * Returns a key that is equal for equal rules of a group (Neutron securitygroups_db, `_rule_to_key`). The description
 * doesn't matter, and `0.0.0.0/0`, `::/0` and no prefix are equal. Prefixes compare as text, including host bits.
 */
export function duplicateKey(rule: CanonicalRule): string {
  return JSON.stringify([
    rule.direction,
    rule.ethertype,
    rule.protocol,
    rule.port_range_min,
    rule.port_range_max,
    rule.remote_group_id,
    EVERYONE.has(rule.remote_ip_prefix) ? null : rule.remote_ip_prefix,
  ]);
}

/** Returns the positions of rules that repeat an earlier one, and the position of that one. */
export function findDuplicates(rules: readonly CanonicalRule[]): { first: number; second: number }[] {
  const seen = new Map<string, number>();
  const duplicates: { first: number; second: number }[] = [];
  for (const [second, rule] of rules.entries()) {
    const key = duplicateKey(rule);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, second);
    else duplicates.push({ first, second });
  }
  return duplicates;
}

/** Throws a ConflictError that names both positions if a request contains the same rule twice. */
export function refuseDuplicates(rules: readonly CanonicalRule[], fieldOf: (position: number) => string): void {
  const texts = findDuplicates(rules).map(
    ({ first, second }) => `${fieldOf(second)} is the same rule as ${fieldOf(first)}`,
  );
  if (texts.length === 0) return;
  throw new ConflictError(
    `Duplicate security group rules: ${texts.join('; ')}. Send each rule once. Descriptions don't make rules different, and 0.0.0.0/0, ::/0 and no prefix all mean any address.`,
  );
}
