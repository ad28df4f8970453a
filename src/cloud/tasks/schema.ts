import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';

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
    state: Type.Enum(['NEW', 'RUNNING', 'FINISHED', 'ERROR'], {
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
