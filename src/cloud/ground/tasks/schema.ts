import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { plainSeconds } from '../../../lib/time.ts';
import * as wire from '../../../lib/wire.ts';
import { STATES } from './states.ts';
import type { TaskRow } from './store.ts';

const TaskTime = (description: string) => wire.TextOrNull({ description, examples: ['2026-05-23T05:07:31'] });

const idLists = [
  'ai_clusters api_keys caas_containers clusters faas_functions faas_namespaces file_shares floatingips healthmonitors',
  'images inference_instances instances k8s_clusters k8s_pools l7polices l7rules laas_topic listeners loadbalancers',
  'members networks pools ports postgresql_clusters registry_registries registry_users routers secrets',
  'security_group_rules security_groups servergroups snapshots subnets volumes',
]
  .join(' ')
  .split(' ');

export const CreatedResources = Type.Object(
  {
    ...Object.fromEntries(idLists.map((name) => [name, wire.OptionalList(Type.String())])),
    ddos_profiles: wire.OptionalList(Type.Integer()),
    projects: wire.OptionalList(Type.Integer()),
  },
  { title: 'CreatedResources', description: 'IDs of the resources that the task created, by type' },
);

export const Task = wire.Named('Task', {
  id: Type.String({ format: 'uuid', description: 'Unique across all projects' }),
  task_type: Type.String({ examples: ['update_k8s_cluster_v2'] }),
  state: Type.Enum(STATES, {
    description: 'NEW: queued. RUNNING: in progress. FINISHED and ERROR are final.',
  }),
  detailed_state: wire.TextOrNull({ description: 'Only for GPU clusters' }),
  created_on: TaskTime('When the task was accepted, in UTC'),
  updated_on: TaskTime('When its state last changed, in UTC'),
  finished_on: TaskTime('When it reached FINISHED or ERROR, in UTC'),
  created_resources: wire.nullable(CreatedResources),
  data: Type.Unknown({ description: 'Parameters of the task' }),
  error: wire.TextOrNull({ description: 'Why the task ended in ERROR' }),
  user_id: Type.Integer({ description: 'User who started the task' }),
  client_id: wire.nullable(Type.Integer()),
  user_client_id: wire.nullable(Type.Integer()),
  project_id: wire.nullable(Type.Integer()),
  region_id: wire.nullable(Type.Integer()),
  request_id: wire.TextOrNull({ description: 'Request that started the task' }),
  acknowledged_at: TaskTime('When a user acknowledged the outcome'),
  acknowledged_by: wire.nullable(Type.Integer()),
  job_id: wire.nullable(Type.String()),
  schedule_id: wire.nullable(Type.String()),
  lifecycle_policy_id: wire.nullable(Type.Integer()),
});
export type Task = Static<typeof Task>;

export const TaskParams = Type.Object({ task_id: Type.String({ description: 'Task ID' }) });

export const WaitHeaders = Type.Object({
  prefer: wire.OptionalText({
    description:
      '`wait=N` (RFC 7240): wait until the task has ended, for at most N seconds (up to 60), then return it. ' +
      'If this was applied, the response has the header `Preference-Applied: wait=N`.',
    examples: ['wait=30'],
  }),
});

export const TaskList = wire.listOf(Task, 'TaskList');

export const TaskListQuery = wire.Query({
  project_id: wire.RepeatedId('Project ID'),
  region_id: wire.RepeatedId('Region ID'),
  state: wire.OptionalList(wire.Choice(STATES), {
    maxItems: 100,
    description: 'Repeat for several',
  }),
  task_type: wire.OptionalText({ maxLength: 255, description: 'Exact type', examples: ['create_volume'] }),
  is_acknowledged: wire.OptionalFlag({
    description: 'Only tasks that have been acknowledged, or only those that have not',
  }),
  from_timestamp: Type.Optional(wire.QueryTime('Accepted at this time or later')),
  to_timestamp: Type.Optional(wire.QueryTime('Accepted at this time or earlier')),
  order_by: Type.Optional({
    ...wire.SortOrder,
    description: 'Order by time of acceptance; defaults to newest first',
  }),
  sorting: Type.Optional({ ...wire.SortOrder, deprecated: true, description: 'Old name of `order_by`' }),
  ...wire.listQuery(10),
});
export type TaskListQuery = Static<typeof TaskListQuery>;

export const ActiveTaskParams = Type.Object(wire.ProjectRegion);
export const ActiveTaskQuery = wire.Query({
  task_type: wire.OptionalList(Type.String({ maxLength: 255, examples: ['create_volume'] }), {
    maxItems: 100,
    description: 'Repeat for several',
  }),
  ...wire.listQuery(10),
});

export const AcknowledgeQuery = wire.Query({
  project_id: Type.Optional(wire.IntegerId('Only tasks of this project')),
  region_id: Type.Optional(wire.IntegerId('Only tasks of this region')),
});
export type AcknowledgeQuery = Static<typeof AcknowledgeQuery>;

export const AcknowledgeTasks = wire.Input(
  'AcknowledgeTasks',
  {
    task_ids: Type.Optional(
      wire.nullable(
        Type.Array(UuidInput('Task ID'), {
          maxItems: 1000,
          description: 'Tasks of any state; if null or omitted, all tasks that have ended',
        }),
      ),
    ),
  },
  { task_ids: null },
);
export type AcknowledgeTasks = Static<typeof AcknowledgeTasks>;

export function presentedTask(row: TaskRow): Task {
  // What a snapshot schedule starts says so.
  const by = row.data as { schedule_id?: string; lifecycle_policy_id?: number };
  return {
    detailed_state: null,
    ...row,
    created_on: plainSeconds(row.created_on),
    updated_on: row.updated_on && plainSeconds(row.updated_on),
    finished_on: row.finished_on && plainSeconds(row.finished_on),
    acknowledged_at: row.acknowledged_at && plainSeconds(row.acknowledged_at),
    job_id: null,
    schedule_id: by.schedule_id ?? null,
    lifecycle_policy_id: by.lifecycle_policy_id ?? null,
  };
}
