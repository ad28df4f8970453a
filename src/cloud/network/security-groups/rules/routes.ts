import { Type } from 'typebox';
import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { securityGroupRuleSchema } from '../answer-schema.ts';
import { GROUP_TAGS, GROUPS, GroupParams, RuleParams } from '../path-schema.ts';
import { presentedRule } from '../presenter.ts';
import { addRule, removeRule, replaceRule } from './changes.ts';
import { replaceSecurityGroupRuleSchema, securityGroupRuleInputSchema } from './schema.ts';

const RULES = '/cloud/v1/securitygrouprules/:project_id/:region_id';

/** Routes for single rules, answered at once. */
export function ruleRoutes(app: Api, dialect: Dialect, on: Platform): void {
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
      presentedRule(await addRule(on, scope, params.group_id, body), dialect),
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
      presentedRule(await replaceRule(on, scope, params.rule_id, body), dialect),
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
      await removeRule(on, scope, params.rule_id);
      return reply.code(204).send(null);
    },
  });
}
