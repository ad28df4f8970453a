import type { Transaction } from '../../../../db/database.ts';
import type { Place } from '../../../../db/place.ts';
import { InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { existingGroups } from '../../ports/groups/in-transaction.ts';
import { type CanonicalRule, canonicalRule, type RuleInput } from './canonical.ts';
import { refuseDuplicates } from './duplicates.ts';
import { ruleProblems } from './problems.ts';

/** Returns the rules of a request in canonical form. @throws InvalidError, ConflictError for a duplicate rule */
export function acceptedRules(
  given: readonly RuleInput[],
  fieldOf: (position: number) => string,
): CanonicalRule[] {
  const problems = given.flatMap((rule, position) => ruleProblems(rule, fieldOf(position)));
  if (problems.length > 0) throw new InvalidError(problems);
  const rules = given.map(canonicalRule);
  refuseDuplicates(rules, fieldOf);
  return rules;
}

/** Returns the rule of a request in canonical form. @throws InvalidError */
export function acceptedRule(given: RuleInput): CanonicalRule {
  const problems = ruleProblems(given, '');
  if (problems.length > 0) throw new InvalidError(problems);
  return canonicalRule(given);
}

/** @throws NotFoundError for a remote group that the project doesn't have in this region, as Neutron does */
export async function requireRemoteGroups(
  tx: Transaction,
  place: Place,
  rules: readonly { remote_group_id: string | null }[],
): Promise<void> {
  const ids = [...new Set(rules.flatMap((rule) => rule.remote_group_id ?? []))];
  const known = await existingGroups(tx, place, ids);
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw new NotFoundError('Remote security group', missing);
}
