import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
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
  const api = operations(app, { tags: GROUP_TAGS, params: GroupParams });

  api.post(BASE, 'createSecurityGroupByTask', 'Create a security group with a task', {
    description: `Without \`rules\`, all inbound and outbound traffic is allowed; with an empty list, none is. ${IN_EFFECT}`,
    params: ProjectRegionParams,
    body: createSecurityGroupTaskSchema,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createSecurityGroupByTask(on, scope, body)]),
  });

  api.patch(`${BASE}/:group_id`, 'updateSecurityGroupByTask', 'Update a security group with a task', {
    versioned: VERSIONED_GROUP,
    description: `Rules that stay keep their IDs. All changes are one revision. Returns no task if nothing changes, and under \`/gcore\` one that is FINISHED. ${IN_EFFECT}`,
    body: updateSecurityGroupTaskSchema,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) => {
      const taskId = await updateSecurityGroupByTask(on, scope, params.group_id, body, dialect);
      return dialect.tasks(taskId === undefined ? [] : [taskId]);
    },
  });

  api.post(
    `${BASE}/:group_id/rules`,
    'addSecurityGroupRuleByTask',
    'Add a rule to a security group with a task',
    {
      description: `Returns 409 if the group already has the same rule; the message names it. ${IN_EFFECT}`,
      body: securityGroupRuleInputV2Schema,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, body }) =>
        dialect.tasks([await addRuleByTask(on, scope, params.group_id, body)]),
    },
  );

  api.delete(
    `${BASE}/:group_id/rules/:rule_id`,
    'deleteSecurityGroupRuleByTask',
    'Delete a security group rule with a task',
    {
      description: IN_EFFECT,
      params: GroupRuleParams,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params }) =>
        dialect.tasks([await removeRuleByTask(on, scope, params.group_id, params.rule_id)]),
    },
  );
}
