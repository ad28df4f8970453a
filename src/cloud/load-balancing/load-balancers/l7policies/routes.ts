import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import { versionedIn } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { HELD, MOST_IN_ALL, WAITS } from '../schema.ts';
import { createL7Rule, getL7Rule, l7RuleDeletion, listL7Rules, replaceL7Rule } from './l7rules.ts';
import {
  CreatePolicy,
  CreateRule,
  L7ListQuery,
  MAX_POLICIES,
  MAX_RULES,
  PolicyAnswer,
  PolicyList,
  PolicyParams,
  ReplaceRule,
  RuleAnswer,
  RuleList,
  RuleParams,
  UpdatePolicy,
} from './schema.ts';
import { createL7Policy, getL7Policy, l7PolicyDeletion, listL7Policies, updateL7Policy } from './service.ts';

const BASE = '/cloud/v1/l7policies/:project_id/:region_id';
const ONE = `${BASE}/:l7policy_id`;
const RULES = `${ONE}/rules`;
const RULE = `${RULES}/:l7rule_id`;
const POLICY_VERSION = versionedIn('lb_l7_policies', 'l7policy_id');
const RULE_VERSION = versionedIn('lb_l7_rules', 'l7rule_id');
const tags = ['Load balancers'];

export function l7PolicyRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createL7Policy',
      summary: 'Create an L7 policy of a listener',
      description: `It takes effect once it has a rule. Policies at its position and directly behind it move back. A listener has at most ${MAX_POLICIES}, and a load balancer ${MOST_IN_ALL.policies}. ${HELD}`,
      tags,
      params: ProjectRegionParams,
      body: CreatePolicy,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createL7Policy(on, scope, body)]),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listL7Policies',
      summary: 'List L7 policies',
      description: 'Newest first.',
      tags,
      params: ProjectRegionParams,
      querystring: L7ListQuery,
      response: { 200: PolicyList },
    },
    handler: async ({ scope, query }) => listL7Policies(on, scope, query),
  });

  app.get(ONE, {
    config: { access: 'read', versioned: POLICY_VERSION },
    schema: {
      operationId: 'getL7Policy',
      summary: 'Get an L7 policy',
      tags,
      params: PolicyParams,
      response: { 200: PolicyAnswer },
    },
    handler: async ({ scope, params }) => getL7Policy(on, scope, params.l7policy_id),
  });

  app.patch(ONE, {
    config: { access: 'operate', versioned: POLICY_VERSION },
    schema: {
      operationId: 'updateL7Policy',
      summary: 'Update an L7 policy',
      description: `The action and what belongs to it are replaced; other fields that are left out stay. The task has finished already if nothing changes. ${HELD}`,
      tags,
      params: PolicyParams,
      body: UpdatePolicy,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updateL7Policy(on, scope, params.l7policy_id, body)]),
  });

  app.delete(ONE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteL7Policy',
      summary: 'Delete an L7 policy',
      description: `Deletes its rules with it. ${WAITS}`,
      tags,
      params: PolicyParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, l7PolicyDeletion, params.l7policy_id)]),
  });

  app.post(RULES, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createL7Rule',
      summary: 'Add a rule to an L7 policy',
      description: `A policy has at most ${MAX_RULES}, and a load balancer ${MOST_IN_ALL.rules} over all its policies. ${HELD}`,
      tags,
      params: PolicyParams,
      body: CreateRule,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await createL7Rule(on, scope, params.l7policy_id, body)]),
  });

  app.get(RULES, {
    config: { access: 'read' },
    schema: {
      operationId: 'listL7Rules',
      summary: 'List the rules of an L7 policy',
      description: 'Newest first.',
      tags,
      params: PolicyParams,
      querystring: L7ListQuery,
      response: { 200: RuleList },
    },
    handler: async ({ scope, params, query }) => listL7Rules(on, scope, params.l7policy_id, query),
  });

  app.get(RULE, {
    config: { access: 'read', versioned: RULE_VERSION },
    schema: {
      operationId: 'getL7Rule',
      summary: 'Get a rule of an L7 policy',
      tags,
      params: RuleParams,
      response: { 200: RuleAnswer },
    },
    handler: async ({ scope, params }) => getL7Rule(on, scope, params.l7policy_id, params.l7rule_id),
  });

  app.put(RULE, {
    config: { access: 'operate', versioned: RULE_VERSION },
    schema: {
      operationId: 'replaceL7Rule',
      summary: 'Replace properties of an L7 rule',
      description: `Fields that are left out stay. The task has finished already if nothing changes. ${HELD}`,
      tags,
      params: RuleParams,
      body: ReplaceRule,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await replaceL7Rule(on, scope, params.l7policy_id, params.l7rule_id, body)]),
  });

  app.delete(RULE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteL7Rule',
      summary: 'Delete a rule of an L7 policy',
      description: WAITS,
      tags,
      params: RuleParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, l7RuleDeletion, params.l7policy_id, params.l7rule_id)]),
  });
}
