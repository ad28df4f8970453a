import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { createSecurityGroupByTask } from './creation.ts';
import { GROUP_TAGS, GroupParams, GroupRuleParams, VERSIONED_GROUP } from './path-schema.ts';
import { addRuleByTask, removeRuleByTask } from './rules/changes.ts';
import { securityGroupRuleInputV2Schema } from './rules/schema.ts';
import { createSecurityGroupTaskSchema, updateSecurityGroupTaskSchema } from './schema.ts';
import { updateSecurityGroupByTask } from './updates.ts';

const BASE = '/cloud/v2/security_groups/:project_id/:region_id';
const IN_EFFECT =
  'The change is effective as soon as the request is accepted; the task is for clients that wait for one.';

/** Routes of the second version, where a task reports what was done. */
export function groupTaskRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createSecurityGroupByTask',
      summary: 'Create a security group with a task',
      description: `Without \`rules\`, all inbound and outbound traffic is allowed; with an empty list, none is. ${IN_EFFECT}`,
      tags: GROUP_TAGS,
      params: ProjectRegionParams,
      body: createSecurityGroupTaskSchema,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createSecurityGroupByTask(on, scope, body)]),
  });

  app.patch(`${BASE}/:group_id`, {
    config: { access: 'operate', versioned: VERSIONED_GROUP },
    schema: {
      operationId: 'updateSecurityGroupByTask',
      summary: 'Update a security group with a task',
      description: `Rules that stay keep their IDs. All changes are one revision. Returns no task if nothing changes, and under \`/gcore\` one that is FINISHED. ${IN_EFFECT}`,
      tags: GROUP_TAGS,
      params: GroupParams,
      body: updateSecurityGroupTaskSchema,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const taskId = await updateSecurityGroupByTask(on, scope, params.group_id, body, dialect);
      return dialect.tasks(taskId === undefined ? [] : [taskId]);
    },
  });

  app.post(`${BASE}/:group_id/rules`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'addSecurityGroupRuleByTask',
      summary: 'Add a rule to a security group with a task',
      description: `Returns 409 if the group already has the same rule; the message names it. ${IN_EFFECT}`,
      tags: GROUP_TAGS,
      params: GroupParams,
      body: securityGroupRuleInputV2Schema,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await addRuleByTask(on, scope, params.group_id, body)]),
  });

  app.delete(`${BASE}/:group_id/rules/:rule_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteSecurityGroupRuleByTask',
      summary: 'Delete a security group rule with a task',
      description: IN_EFFECT,
      tags: GROUP_TAGS,
      params: GroupRuleParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await removeRuleByTask(on, scope, params.group_id, params.rule_id)]),
  });
}
