import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { presentedRule } from '../presenter.ts';
import { GROUP_TAGS, GROUPS, GroupParams, RuleParams, securityGroupRuleSchema } from '../schema.ts';
import { addRule, removeRule, replaceRule } from './changes.ts';
import { replaceSecurityGroupRuleSchema, securityGroupRuleInputSchema } from './schema.ts';

const RULES = '/cloud/v1/securitygrouprules/:project_id/:region_id';

/** Routes for single rules, answered at once. */
export function ruleRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags: GROUP_TAGS, params: RuleParams, deprecated: true });

  api.post(`${GROUPS}/:group_id/rules`, 'addSecurityGroupRule', 'Add a rule to a security group', {
    description: 'Returns 409 if the group already has the same rule; the message names it.',
    params: GroupParams,
    body: securityGroupRuleInputSchema,
    answer: securityGroupRuleSchema(dialect.name),
    handler: async ({ scope, params, body }) =>
      presentedRule(await addRule(on, scope, params.group_id, body), dialect),
  });

  api.put(`${RULES}/:rule_id`, 'replaceSecurityGroupRule', 'Replace a security group rule', {
    description: 'The rule keeps its ID. Omitted fields are reset to their defaults.',
    body: replaceSecurityGroupRuleSchema,
    answer: securityGroupRuleSchema(dialect.name),
    handler: async ({ scope, params, body }) =>
      presentedRule(await replaceRule(on, scope, params.rule_id, body), dialect),
  });

  api.delete(`${RULES}/:rule_id`, 'deleteSecurityGroupRule', 'Delete a security group rule', {
    handler: ({ scope, params }) => removeRule(on, scope, params.rule_id),
  });
}
