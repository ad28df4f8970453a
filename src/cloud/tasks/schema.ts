import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { UuidInput } from '../../lib/resource-fields.ts';
import {
  IntegerId,
  listOf,
  listQuery,
  ProjectRegion,
  QueryTime,
  RepeatedId,
  SortOrder,
} from '../../lib/wire.ts';

const STATES = ['NEW', 'RUNNING', 'FINISHED', 'ERROR'] as const;

const TaskTime = (description: string) =>
  nullable(Type.String({ description, examples: ['2026-05-23T05:07:31'] }));

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
    ...Object.fromEntries(idLists.map((name) => [name, Type.Optional(Type.Array(Type.String()))])),
    ddos_profiles: Type.Optional(Type.Array(Type.Integer())),
    projects: Type.Optional(Type.Array(Type.Integer())),
  },
  { title: 'CreatedResources', description: 'IDs of what the task made, by kind' },
);

export const Task = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Unique over all projects' }),
    task_type: Type.String({ examples: ['update_k8s_cluster_v2'] }),
    state: Type.Enum(STATES, {
      description: 'NEW: queued. RUNNING: at work. FINISHED and ERROR are final.',
    }),
    detailed_state: nullable(Type.String({ description: 'Only GPU clusters have one' })),
    created_on: TaskTime('When the task was accepted, in UTC'),
    updated_on: TaskTime('When its state last changed, in UTC'),
    finished_on: TaskTime('When it reached FINISHED or ERROR, in UTC'),
    created_resources: nullable(CreatedResources),
    data: Type.Unknown({ description: 'What the task was asked to do' }),
    error: nullable(Type.String({ description: 'Why the task ended in ERROR' })),
    user_id: Type.Integer({ description: 'Who started the task' }),
    client_id: nullable(Type.Integer()),
    user_client_id: nullable(Type.Integer()),
    project_id: nullable(Type.Integer()),
    region_id: nullable(Type.Integer()),
    request_id: nullable(Type.String({ description: 'The request that started the task' })),
    acknowledged_at: TaskTime('When a user acknowledged the outcome'),
    acknowledged_by: nullable(Type.Integer()),
    job_id: nullable(Type.String()),
    schedule_id: nullable(Type.String()),
    lifecycle_policy_id: nullable(Type.Integer()),
  },
  { title: 'Task' },
);
export type Task = Static<typeof Task>;

export const TaskParams = Type.Object({ task_id: Type.String({ description: 'Task ID' }) });

export const WaitHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description:
        '`wait=N` (RFC 7240): answer when the task has ended, or as it is after N seconds, 60 at most. ' +
        'The answer says `Preference-Applied: wait=N` where that was done.',
      examples: ['wait=30'],
    }),
  ),
});

export const TaskList = listOf(Task, 'TaskList');

export const TaskListQuery = Type.Object(
  {
    project_id: RepeatedId('Project ID'),
    region_id: RepeatedId('Region ID'),
    state: Type.Optional(
      Type.Array(Type.Enum(STATES, { type: 'string' }), {
        maxItems: 100,
        description: 'Repeat it for several',
      }),
    ),
    task_type: Type.Optional(
      Type.String({ maxLength: 255, description: 'The whole type', examples: ['create_volume'] }),
    ),
    is_acknowledged: Type.Optional(
      Type.Boolean({ description: 'Only those whose outcome a user has acknowledged, or has not' }),
    ),
    from_timestamp: Type.Optional(QueryTime('Accepted then or later')),
    to_timestamp: Type.Optional(QueryTime('Accepted then or earlier')),
    order_by: Type.Optional({
      ...SortOrder,
      description: 'By the time of acceptance; the newest first if left out',
    }),
    sorting: Type.Optional({ ...SortOrder, deprecated: true, description: 'The former name of `order_by`' }),
    ...listQuery(10),
  },
  { additionalProperties: false },
);
export type TaskListQuery = Static<typeof TaskListQuery>;

export const ActiveTaskParams = Type.Object(ProjectRegion);
export const ActiveTaskQuery = Type.Object(
  {
    task_type: Type.Optional(
      Type.Array(Type.String({ maxLength: 255, examples: ['create_volume'] }), {
        maxItems: 100,
        description: 'Repeat it for several',
      }),
    ),
    ...listQuery(10),
  },
  { additionalProperties: false },
);

export const AcknowledgeQuery = Type.Object(
  {
    project_id: Type.Optional(IntegerId('Only tasks of this project')),
    region_id: Type.Optional(IntegerId('Only tasks of this region')),
  },
  { additionalProperties: false },
);
export type AcknowledgeQuery = Static<typeof AcknowledgeQuery>;

export const AcknowledgeTasks = Type.Object(
  {
    task_ids: Type.Optional(
      nullable(
        Type.Array(UuidInput('Task ID'), {
          maxItems: 1000,
          description: 'Tasks of any state; all that have ended if it is null or left out',
        }),
      ),
    ),
  },
  { title: 'AcknowledgeTasks', additionalProperties: false, examples: [{ task_ids: null }] },
);
export type AcknowledgeTasks = Static<typeof AcknowledgeTasks>;
