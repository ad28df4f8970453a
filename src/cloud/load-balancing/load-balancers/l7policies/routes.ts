import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { versioned } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { HELD, MOST_IN_ALL, WAITS } from '../schema.ts';
import { createL7Rule, getL7Rule, l7RuleDeletion, listL7Rules, replaceL7Rule } from './l7rules.ts';
import * as schema from './schema.ts';
import { createL7Policy, getL7Policy, l7PolicyDeletion, listL7Policies, updateL7Policy } from './service.ts';

const BASE = '/cloud/v1/l7policies/:project_id/:region_id';
const ONE = `${BASE}/:l7policy_id`;
const RULES = `${ONE}/rules`;
const RULE = `${RULES}/:l7rule_id`;
const POLICY_VERSION = versioned('lb_l7policy');
const RULE_VERSION = versioned('lb_l7rule');
const tags = ['Load balancers'];

export function l7PolicyRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.PolicyParams });

  api.post(BASE, 'createL7Policy', 'Create an L7 policy of a listener', {
    description: `It takes effect once it has a rule. Policies at its position and directly behind it move back. A listener has at most ${schema.MAX_POLICIES}, and a load balancer ${MOST_IN_ALL.policies}. ${HELD}`,
    params: ProjectRegionParams,
    body: schema.CreatePolicy,
    task: ({ scope, body }) => createL7Policy(on, scope, body),
  });

  api.get(BASE, 'listL7Policies', 'List L7 policies', {
    description: 'Newest first.',
    params: ProjectRegionParams,
    query: schema.L7ListQuery,
    answer: schema.PolicyList,
    handler: ({ scope, query }) => listL7Policies(on, scope, query),
  });

  api.get(ONE, 'getL7Policy', 'Get an L7 policy', {
    versioned: POLICY_VERSION,
    answer: schema.PolicyAnswer,
    handler: ({ scope, params }) => getL7Policy(on, scope, params.l7policy_id),
  });

  api.patch(ONE, 'updateL7Policy', 'Update an L7 policy', {
    versioned: POLICY_VERSION,
    description: `The action and what belongs to it are replaced; other fields that are left out stay. The task has finished already if nothing changes. ${HELD}`,
    body: schema.UpdatePolicy,
    task: ({ scope, params, body }) => updateL7Policy(on, scope, params.l7policy_id, body),
  });

  api.delete(ONE, 'deleteL7Policy', 'Delete an L7 policy', {
    description: `Deletes its rules with it. ${WAITS}`,
    task: ({ scope, params }) => deleteOrWait(on, scope, l7PolicyDeletion, params.l7policy_id),
  });

  api.post(RULES, 'createL7Rule', 'Add a rule to an L7 policy', {
    description: `A policy has at most ${schema.MAX_RULES}, and a load balancer ${MOST_IN_ALL.rules} over all its policies. ${HELD}`,
    body: schema.CreateRule,
    task: ({ scope, params, body }) => createL7Rule(on, scope, params.l7policy_id, body),
  });

  api.get(RULES, 'listL7Rules', 'List the rules of an L7 policy', {
    description: 'Newest first.',
    query: schema.L7ListQuery,
    answer: schema.RuleList,
    handler: ({ scope, params, query }) => listL7Rules(on, scope, params.l7policy_id, query),
  });

  api.get(RULE, 'getL7Rule', 'Get a rule of an L7 policy', {
    versioned: RULE_VERSION,
    params: schema.RuleParams,
    answer: schema.RuleAnswer,
    handler: ({ scope, params }) => getL7Rule(on, scope, params.l7policy_id, params.l7rule_id),
  });

  api.put(RULE, 'replaceL7Rule', 'Replace properties of an L7 rule', {
    versioned: RULE_VERSION,
    description: `Fields that are left out stay. The task has finished already if nothing changes. ${HELD}`,
    params: schema.RuleParams,
    body: schema.ReplaceRule,
    task: ({ scope, params, body }) => replaceL7Rule(on, scope, params.l7policy_id, params.l7rule_id, body),
  });

  api.delete(RULE, 'deleteL7Rule', 'Delete a rule of an L7 policy', {
    description: WAITS,
    params: schema.RuleParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, l7RuleDeletion, params.l7policy_id, params.l7rule_id),
  });
}
