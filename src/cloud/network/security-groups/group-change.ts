import { isDeepStrictEqual } from 'node:util';
import { ConflictError } from '../../../lib/errors.ts';
import { type CanonicalRule, duplicateKey } from './rules/rule.ts';
import { MAX_RULES } from './schema.ts';

type IdentifiedRule = CanonicalRule & { id: string };
type KnownRule = IdentifiedRule & { duplicate_key: string };

/** The change of a group by one request. Absent parts don't change. */
export interface GroupChange {
  name?: string | undefined;
  description?: string | undefined;
  tags?: Record<string, string> | undefined;
  /** IDs of rules to remove. */
  removed?: string[];
  /** Rules that change and keep their IDs. */
  replaced?: IdentifiedRule[];
  added?: CanonicalRule[];
}

interface KnownGroup {
  name: string;
  description: string;
  tags: Record<string, string>;
  rules: readonly KnownRule[];
}

/** A creation takes this many rules and may add the two that allow all outbound traffic. */
const MOST_RULES = MAX_RULES + 2;

/**
 * Returns the change from the known rules to the wanted ones. A rule that means the same keeps its ID. Descriptions
 * don't matter for that.
 */
export function changeToWanted(
  known: readonly KnownRule[],
  wanted: readonly CanonicalRule[],
): Required<Pick<GroupChange, 'removed' | 'replaced' | 'added'>> {
  const left = new Map(known.map((rule) => [rule.duplicate_key, rule]));
  const replaced: IdentifiedRule[] = [];
  const added: CanonicalRule[] = [];
  for (const rule of wanted) {
    const key = duplicateKey(rule);
    const twin = left.get(key);
    left.delete(key);
    if (!twin) added.push(rule);
    else if (!isSameRule(twin, rule)) replaced.push({ ...rule, id: twin.id });
  }
  return { removed: [...left.values()].map(({ id }) => id), replaced, added };
}

/** Whether two rules are equal in every field, including the description. */
export function isSameRule(one: CanonicalRule, other: CanonicalRule): boolean {
  return (
    duplicateKey(one) === duplicateKey(other) &&
    one.remote_ip_prefix === other.remote_ip_prefix &&
    one.description === other.description
  );
}

export function changesNothing(group: KnownGroup, change: GroupChange): boolean {
  const { name = group.name, description = group.description, tags = group.tags } = change;
  const rules = [...(change.removed ?? []), ...(change.replaced ?? []), ...(change.added ?? [])];
  return (
    rules.length === 0 &&
    name === group.name &&
    description === group.description &&
    isDeepStrictEqual(tags, group.tags)
  );
}

/** @throws ConflictError naming a rule that the group has already, and for more rules than a group may have */
export function refuseRuleConflicts(group: KnownGroup, change: GroupChange): void {
  const { removed = [], replaced = [], added = [] } = change;
  const gone = new Set([...removed, ...replaced.map(({ id }) => id)]);
  const kept = new Map(group.rules.filter(({ id }) => !gone.has(id)).map((rule) => [rule.duplicate_key, rule.id]));
  for (const rule of [...replaced, ...added]) {
    const twin = kept.get(duplicateKey(rule));
    if (twin === undefined) continue;
    throw new ConflictError(
      `Security group rule ${twin} already exists and is the same rule. Descriptions don't make rules different, and 0.0.0.0/0, ::/0 and no prefix all mean any address.`,
    );
  }
  const count = kept.size + replaced.length + added.length;
  if (count <= MOST_RULES || count <= group.rules.length) return;
  throw new ConflictError(
    `The security group would have ${count} rules, and the maximum is ${MOST_RULES}; remove some first`,
  );
}
