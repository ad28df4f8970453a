import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { ProtocolName } from '../../../lib/ip-addresses.ts';
import { presentedPage } from '../../../lib/page.ts';
import { presentedTags } from '../../../lib/tags.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { tagRoutes } from '../../ground/metadata/routes.ts';
import { whenFree } from '../../ground/tasks/service.ts';
import * as creation from './creation.ts';
import { addRule, addRuleByTask, removeRule, removeRuleByTask, replaceRule } from './rules/changes.ts';
import * as rulesSchema from './rules/schema.ts';
import type { RuleRow } from './rules/store.ts';
import * as schema from './schema.ts';
import { deleteSecurityGroup, getSecurityGroup, listSecurityGroups, securityGroupTags } from './service.ts';
import type { SecurityGroupRow } from './store.ts';

/** The only difference between the dialects here. */
interface RemoteGroupDialect {
  remoteGroup(id: string | null): string[] | string | null;
}

export function presentedGroup(row: SecurityGroupRow, scope: Scope, dialect: RemoteGroupDialect) {
  const tags = presentedTags(row.tags);
  return {
    region: scope.region.display_name,
    ...row,
    tags_v2: tags,
    metadata: tags,
    created_at: offsetTimestamp(row.created_at),
    updated_at: offsetTimestamp(row.updated_at),
    security_group_rules: row.rules.map((rule) => presentedRule(rule, dialect)),
  };
}

export function presentedRule(rule: RuleRow, dialect: RemoteGroupDialect) {
  return {
    id: rule.id,
    security_group_id: rule.security_group_id,
    direction: rule.direction,
    ethertype: rule.ethertype,
    port_range_min: rule.port_range_min,
    port_range_max: rule.port_range_max,
    remote_ip_prefix: rule.remote_ip_prefix,
    description: rule.description,
    revision_number: rule.revision_number,
    // The request schema only accepts names from the list, so stored ones are in it.
    protocol: rule.protocol as ProtocolName | null,
    remote_group_id: dialect.remoteGroup(rule.remote_group_id),
    created_at: offsetTimestamp(rule.created_at),
    updated_at: offsetTimestamp(rule.updated_at),
  };
}

const RULES = '/cloud/v1/securitygrouprules/:project_id/:region_id';

/** Routes for single rules, answered at once. */
export function ruleRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags: schema.GROUP_TAGS, params: schema.RuleParams, deprecated: true });

  api.post(`${schema.GROUPS}/:group_id/rules`, 'addSecurityGroupRule', 'Add a rule to a security group', {
    description: 'Returns 409 if the group already has the same rule; the message names it.',
    params: schema.GroupParams,
    body: rulesSchema.securityGroupRuleInputSchema,
    answer: schema.securityGroupRuleSchema(dialect.name),
    handler: async ({ scope, params, body }) => presentedRule(await addRule(on, scope, params.group_id, body), dialect),
  });

  api.put(`${RULES}/:rule_id`, 'replaceSecurityGroupRule', 'Replace a security group rule', {
    description: 'The rule keeps its ID. Omitted fields are reset to their defaults.',
    body: rulesSchema.replaceSecurityGroupRuleSchema,
    answer: schema.securityGroupRuleSchema(dialect.name),
    handler: async ({ scope, params, body }) =>
      presentedRule(await replaceRule(on, scope, params.rule_id, body), dialect),
  });

  api.delete(`${RULES}/:rule_id`, 'deleteSecurityGroupRule', 'Delete a security group rule', {
    handler: ({ scope, params }) => removeRule(on, scope, params.rule_id),
  });
}

const BASE = '/cloud/v2/security_groups/:project_id/:region_id';
const IN_EFFECT =
  'The change is effective as soon as the request is accepted; the task is for clients that wait for one.';

/** Routes of the second version, where a task reports what was done. */
export function groupTaskRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags: schema.GROUP_TAGS, params: schema.GroupParams });

  api.post(BASE, 'createSecurityGroupByTask', 'Create a security group with a task', {
    description: `Without \`rules\`, all inbound and outbound traffic is allowed; with an empty list, none is. ${IN_EFFECT}`,
    params: ProjectRegionParams,
    body: schema.createSecurityGroupTaskSchema,
    task: ({ scope, body }) => creation.createSecurityGroupByTask(on, scope, body),
  });

  api.patch(`${BASE}/:group_id`, 'updateSecurityGroupByTask', 'Update a security group with a task', {
    versioned: schema.VERSIONED_GROUP,
    description: `Rules that stay keep their IDs. All changes are one revision. Returns no task if nothing changes, and under \`/gcore\` one that is FINISHED. ${IN_EFFECT}`,
    body: schema.updateSecurityGroupTaskSchema,
    task: ({ scope, params, body }) => creation.updateSecurityGroupByTask(on, scope, params.group_id, body, dialect),
  });

  api.post(`${BASE}/:group_id/rules`, 'addSecurityGroupRuleByTask', 'Add a rule to a security group with a task', {
    description: `Returns 409 if the group already has the same rule; the message names it. ${IN_EFFECT}`,
    body: rulesSchema.securityGroupRuleInputV2Schema,
    task: ({ scope, params, body }) => addRuleByTask(on, scope, params.group_id, body),
  });

  api.delete(
    `${BASE}/:group_id/rules/:rule_id`,
    'deleteSecurityGroupRuleByTask',
    'Delete a security group rule with a task',
    {
      description: IN_EFFECT,
      params: schema.GroupRuleParams,
      task: ({ scope, params }) => removeRuleByTask(on, scope, params.group_id, params.rule_id),
    },
  );
}

export function securityGroupRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'securitygroup', securityGroupTags);
  const api = operations(app, { tags: schema.GROUP_TAGS, params: schema.GroupParams });

  api.post(schema.GROUPS, 'createSecurityGroup', 'Create a security group', {
    description:
      'Takes effect immediately. Rules are stored in canonical form. If no rule is an egress rule, the group gets two rules that allow all outbound traffic.',
    params: ProjectRegionParams,
    body: schema.createSecurityGroupSchema,
    answer: schema.securityGroupSchema(dialect.name),
    handler: async ({ scope, body }) =>
      presentedGroup(await creation.createSecurityGroup(on, scope, body), scope, dialect),
  });

  api.get(schema.GROUPS, 'listSecurityGroups', 'List security groups', {
    params: ProjectRegionParams,
    query: schema.GroupListQuery,
    answer: schema.securityGroupListSchema(dialect.name),
    handler: async ({ scope, query }) =>
      presentedPage(await listSecurityGroups(on, scope, query), (row) => presentedGroup(row, scope, dialect)),
  });

  api.get(`${schema.GROUPS}/:group_id`, 'getSecurityGroup', 'Get a security group', {
    versioned: schema.VERSIONED_GROUP,
    answer: schema.securityGroupSchema(dialect.name),
    handler: async ({ scope, params }) =>
      presentedGroup(await getSecurityGroup(on, scope, params.group_id), scope, dialect),
  });

  api.delete(`${schema.GROUPS}/:group_id`, 'deleteSecurityGroup', 'Delete a security group', {
    description:
      'Returns 409 while a port or a rule of another group uses it. If all of these are being deleted, it waits for up to 30 seconds.',
    handler: ({ scope, params }, reply) =>
      whenFree(on, { principal: scope.principal, gone: () => goneSignal(reply) }, () =>
        deleteSecurityGroup(on, scope, params.group_id),
      ),
  });

  api.patch(`${schema.GROUPS}/:group_id`, 'updateSecurityGroup', 'Update a security group', {
    versioned: schema.VERSIONED_GROUP,
    description:
      "All changes are applied together, as one revision. Rules are removed before others are added. The default group can't be renamed.",
    deprecated: true,
    body: schema.updateSecurityGroupSchema,
    answer: schema.securityGroupSchema(dialect.name),
    handler: async ({ scope, params, body }) =>
      presentedGroup(await creation.updateSecurityGroup(on, scope, params.group_id, body), scope, dialect),
  });

  api.post(`${schema.GROUPS}/:group_id/copy`, 'copySecurityGroup', 'Copy a security group', {
    description: "Creates a group with the same description, tags and rules. It isn't assigned to any port.",
    body: schema.copySecurityGroupSchema,
    answer: schema.securityGroupSchema(dialect.name),
    handler: async ({ scope, params, body }) =>
      presentedGroup(await creation.copySecurityGroup(on, scope, params.group_id, body.name), scope, dialect),
  });

  api.post(
    `${schema.GROUPS}/:group_id/revert`,
    'revertSecurityGroup',
    'Restore the default rules of a security group',
    {
      description:
        'Replaces all rules with those of a default group: inbound ICMP, TCP 22 and 3389, and UDP 3389, and all outbound traffic, for IPv4 and IPv6.',
      answer: schema.securityGroupSchema(dialect.name),
      handler: async ({ scope, params }) =>
        presentedGroup(await creation.revertSecurityGroup(on, scope, params.group_id), scope, dialect),
    },
  );

  ruleRoutes(app, dialect, on);
  groupTaskRoutes(app, dialect, on);
}
