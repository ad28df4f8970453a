import { ConflictError } from '../../../../lib/errors.ts';
import type { CanonicalRule } from './canonical.ts';

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
export function refuseDuplicates(
  rules: readonly CanonicalRule[],
  fieldOf: (position: number) => string,
): void {
  const texts = findDuplicates(rules).map(
    ({ first, second }) => `${fieldOf(second)} is the same rule as ${fieldOf(first)}`,
  );
  if (texts.length === 0) return;
  throw new ConflictError(
    `Duplicate security group rules: ${texts.join('; ')}. Send each rule once. Descriptions don't make rules different, and 0.0.0.0/0, ::/0 and no prefix all mean any address.`,
  );
}
