import type { Transaction } from '../../../../db/database.ts';
import { InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { foundById } from '../../../../lib/ids.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { changeGroup } from '../apply-change.ts';
import { isSameRule } from '../group-change.ts';
import type { SecurityGroupRow } from '../store.ts';
import { noteRuleCreation, noteRuleRemoval } from '../wanted.ts';
import { acceptedRule, type CanonicalRule, type RuleInput } from './rule.ts';
import { groupOfRule, type RuleRow } from './store.ts';

/** Some clients also send the rule's group. */
export type RuleOfGroup = RuleInput & { security_group_id?: string };

/** @throws InvalidError, NotFoundError for group and remote group, ConflictError for a rule that exists already */
export async function addRule(on: Platform, scope: Scope, groupId: string, request: RuleOfGroup): Promise<RuleRow> {
  const rule = acceptedRule(request);
  refuseOtherGroup(groupId, request);
  return on.database.accept((tx) => add(on, tx, scope, groupId, rule));
}

/** Does the same. Returns the task that reports it. */
export async function addRuleByTask(on: Platform, scope: Scope, groupId: string, request: RuleInput): Promise<string> {
  const rule = acceptedRule(request);
  return on.database.accept(async (tx) => {
    const { id, security_group_id } = await add(on, tx, scope, groupId, rule);
    return noteRuleCreation(on, tx, scope, { groupId: security_group_id, ruleId: id, request });
  });
}

/** Replaces the rule, which keeps its ID. @throws InvalidError, NotFoundError, ConflictError */
export async function replaceRule(on: Platform, scope: Scope, ruleId: string, request: RuleOfGroup): Promise<RuleRow> {
  const rule = acceptedRule(request);
  return on.database.accept(async (tx) => {
    const groupId = await ownGroup(tx, scope, ruleId);
    refuseOtherGroup(groupId, request);
    const { group } = await changeGroup(on, tx, scope, groupId, (current) => {
      const known = ruleIn(current, ruleId);
      return isSameRule(known, rule) ? {} : { replaced: [{ ...rule, id: known.id }] };
    });
    return ruleIn(group, ruleId);
  });
}

/** @throws NotFoundError */
export async function removeRule(on: Platform, scope: Scope, ruleId: string): Promise<void> {
  await on.database.accept(async (tx) => remove(on, tx, scope, await ownGroup(tx, scope, ruleId), ruleId));
}

/** Removes a rule of this group. Returns the task that reports it. @throws NotFoundError */
export async function removeRuleByTask(on: Platform, scope: Scope, groupId: string, ruleId: string): Promise<string> {
  return on.database.accept(async (tx) => {
    const removed = await remove(on, tx, scope, groupId, ruleId);
    return noteRuleRemoval(on, tx, scope, removed);
  });
}

async function add(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  groupId: string,
  rule: CanonicalRule,
): Promise<RuleRow> {
  const { group, addedRuleIds } = await changeGroup(on, tx, scope, groupId, () => ({
    added: [rule],
  }));
  const made = ruleIn(group, addedRuleIds[0] ?? '');
  tx.about({ type: 'securitygrouprule', id: made.id });
  return made;
}

async function remove(on: Platform, tx: Transaction, scope: Scope, groupId: string, ruleId: string) {
  const { group } = await changeGroup(on, tx, scope, groupId, (current) => ({
    removed: [ruleIn(current, ruleId).id],
  }));
  return { groupId: group.id, ruleId: ruleId.toLowerCase() };
}

async function ownGroup(tx: Transaction, scope: Scope, ruleId: string): Promise<string> {
  const groupId = await foundById('Security group rule', ruleId, () => groupOfRule(tx.sql, scope, ruleId));
  return groupId;
}

function ruleIn(group: SecurityGroupRow, ruleId: string): RuleRow {
  const rule = group.rules.find(({ id }) => id === ruleId.toLowerCase());
  if (!rule) throw new NotFoundError('Security group rule', ruleId);
  return rule;
}

function refuseOtherGroup(groupId: string, { security_group_id: given = groupId }: RuleOfGroup): void {
  if (given.toLowerCase() === groupId.toLowerCase()) return;
  throw new InvalidError({
    security_group_id: [
      `The rule is one of security group ${groupId}; leave the field out, or add the rule to the other group.`,
    ],
  });
}
