import { Type } from 'typebox';
import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import { securityGroupRuleSchema } from '../answer-schema.ts';
import { GROUP_TAGS, GROUPS, GroupParams, RuleParams } from '../path-schema.ts';
import { presentedRule } from '../presenter.ts';
import type { SecurityGroups } from '../service.ts';
import { replaceSecurityGroupRuleSchema, securityGroupRuleInputSchema } from './schema.ts';

const RULES = '/cloud/v1/securitygrouprules/:project_id/:region_id';

/** Routes for single rules, answered at once. */
export function ruleRoutes(
  app: Api,
  dialect: Dialect,
  { securityGroups }: { securityGroups: SecurityGroups },
): void {
  app.post(`${GROUPS}/:group_id/rules`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'addSecurityGroupRule',
      summary: 'Add a rule to a security group',
      description: 'Returns 409 if the group already has the same rule; the message names it.',
      tags: GROUP_TAGS,
      deprecated: true,
      params: GroupParams,
      body: securityGroupRuleInputSchema,
      response: { 200: securityGroupRuleSchema(dialect.name) },
    },
    handler: async ({ scope, params, body }) =>
      presentedRule(await securityGroups.addRule(scope, params.group_id, body), dialect),
  });

  app.put(`${RULES}/:rule_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'replaceSecurityGroupRule',
      summary: 'Replace a security group rule',
      description: 'The rule keeps its ID. Omitted fields are reset to their defaults.',
      tags: GROUP_TAGS,
      deprecated: true,
      params: RuleParams,
      body: replaceSecurityGroupRuleSchema,
      response: { 200: securityGroupRuleSchema(dialect.name) },
    },
    handler: async ({ scope, params, body }) =>
      presentedRule(await securityGroups.replaceRule(scope, params.rule_id, body), dialect),
  });

  app.delete(`${RULES}/:rule_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteSecurityGroupRule',
      summary: 'Delete a security group rule',
      tags: GROUP_TAGS,
      deprecated: true,
      params: RuleParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ scope, params }, reply) => {
      await securityGroups.removeRule(scope, params.rule_id);
      return reply.code(204).send(null);
    },
  });
}
