import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import type { PageQuery } from '../../../../lib/page.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { changeTree } from '../tree/edits.ts';
import { balancerOf, findPart, listParts, presentedPart, presentedParts } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_RULE, DELETE_RULE, REPLACE_RULE } from '../tree/tasks.ts';
import { ruleProblems } from './rules.ts';
import { type CreateRule, MAX_RULES, presentedRule, type ReplaceRule, type RuleAnswer } from './schema.ts';

/* The rules of L7 policies. All refuse with NotFoundError for an unknown policy, and changes as those of policies do. */

/** @throws InvalidError, ConflictError when the policy has the most rules */
export const createL7Rule = (on: Platform, scope: Scope, policyId: string, request: CreateRule): Promise<string> =>
  changeTree(on, scope, CREATE_RULE, balancerOf(scope, 'lb_l7_policies', policyId), async (tx, edit) => {
    const policy = await findPart(tx.sql, scope, 'lb_l7_policies', policyId);
    const { type, compare_type, value, key = null, invert = false, tags = [] } = request;
    const values = { type, compare_type, value, key, invert, tags };
    const problems = ruleProblems(values);
    if (problems.length > 0) throw new InvalidError(problems);
    await refuseMore(tx, policy);
    const l7rules = await edit.insert('lb_l7_rules', [{ ...values, l7_policy_id: policy.id }]);
    tx.about({ type: 'lb_l7rule', id: l7rules[0] ?? '', name: null });
    const data = { ...request, l7policy_id: policy.id, l7rule_id: l7rules[0] };
    return { data, created: { l7rules } };
  });

export async function listL7Rules(
  on: Platform,
  scope: Scope,
  policyId: string,
  query: PageQuery,
): Promise<{ count: number; results: RuleAnswer[] }> {
  const policy = await findPart(on.database.sql, scope, 'lb_l7_policies', policyId);
  const where = [sql`l7_policy_id = ${policy.id}`];
  return presentedParts(
    on.database.sql,
    await listParts(on.database.sql, scope, 'lb_l7_rules', where, query),
    ({ rules }) => rules,
    (row, forest) => presentedRule(row, forest, scope),
  );
}

export async function getL7Rule(on: Platform, scope: Scope, policyId: string, id: string): Promise<RuleAnswer> {
  const policy = await findPart(on.database.sql, scope, 'lb_l7_policies', policyId);
  const row = ruleOf(policy.id, await findPart(on.database.sql, scope, 'lb_l7_rules', id));
  return presentedPart(
    on.database.sql,
    row,
    ({ rules }) => rules,
    (one, forest) => presentedRule(one, forest, scope),
  );
}

/** A field that is left out stays; the key goes with the type that needed it. @throws InvalidError */
export const replaceL7Rule = (on: Platform, scope: Scope, policyId: string, id: string, request: ReplaceRule) =>
  changeTree(on, scope, REPLACE_RULE, balancerOf(scope, 'lb_l7_policies', policyId), async (tx, edit) => {
    const policy = await findPart(tx.sql, scope, 'lb_l7_policies', policyId);
    const rule = ruleOf(policy.id, await findPart(tx.sql, scope, 'lb_l7_rules', id));
    tx.about({ type: 'lb_l7rule', id: rule.id, name: null });
    const type = request.type ?? rule.type;
    const values = {
      type,
      compare_type: request.compare_type ?? rule.compare_type,
      value: request.value ?? rule.value,
      key: request.key ?? (type === rule.type ? rule.key : null),
      invert: request.invert ?? rule.invert,
      tags: request.tags ?? rule.tags,
    };
    const problems = ruleProblems(values);
    if (problems.length > 0) throw new InvalidError(problems);
    await edit.update('lb_l7_rules', rule, values);
    const data = { ...request, l7policy_id: policy.id, l7rule_id: rule.id };
    return { data, created: { l7rules: [rule.id] } };
  });

export const deleteL7Rule = (on: Platform, scope: Scope, policyId: string, id: string): Promise<string> =>
  changeTree(on, scope, DELETE_RULE, balancerOf(scope, 'lb_l7_policies', policyId), async (tx, edit) => {
    const policy = await findPart(tx.sql, scope, 'lb_l7_policies', policyId);
    const rule = ruleOf(policy.id, await findPart(tx.sql, scope, 'lb_l7_rules', id));
    tx.about({ type: 'lb_l7rule', id: rule.id, name: null });
    await edit.remove('lb_l7_rules', [rule.id]);
    return { data: { l7policy_id: policy.id, l7rule_id: rule.id } };
  });

type Rule = PartRow<'lb_l7_rules'>;

function ruleOf(policyId: string, rule: Rule): Rule {
  if (rule.l7_policy_id !== policyId) throw new NotFoundError('L7 rule', rule.id);
  return rule;
}

async function refuseMore(tx: Transaction, policy: PartRow<'lb_l7_policies'>): Promise<void> {
  const { count } = await tx.sql
    .selectFrom('lb_l7_rules')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('l7_policy_id', '=', policy.id)
    .executeTakeFirstOrThrow();
  if (Number(count) < MAX_RULES) return;
  throw new ConflictError(`L7 policy ${policy.name} already has ${MAX_RULES} rules, the maximum; delete one first`);
}

export const l7RuleDeletion = waitingDeletion('delete_l7rule', deleteL7Rule, ['l7policy_id', 'l7rule_id']);
