import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { pageOf } from '../../../../lib/page.ts';
import { offsetTimestamp } from '../../../../lib/time.ts';
import { PROJECT_REGION_COLUMNS, type Versioned } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import * as schema from './schema.ts';
import * as policies from './service.ts';
import type { PolicyRow, ScheduleRow } from './store.ts';
import type { Span } from './timing.ts';

const PLACE = ':project_id/:region_id';
const BASE = `/cloud/v1/lifecycle_policy/${PLACE}`;
const ONE = `${BASE}/:policy_id`;
/** Below the policies, one word is another operation. */
const ITSELF = `${ONE}(^(?!estimate_max_policy_usage$).*$)`;
const SCHEDULE = `/cloud/v1/schedule/${PLACE}/:schedule_id`;
const POLICY_ROW: Versioned = {
  table: 'lifecycle_policies',
  columns: {
    ...PROJECT_REGION_COLUMNS,
    policy_id: 'id',
  },
};
const SCHEDULE_ROW: Versioned = {
  table: 'snapshot_schedules',
  columns: { schedule_id: 'id' },
  uuid: 'schedule_id',
  within: {
    table: 'lifecycle_policies',
    columns: PROJECT_REGION_COLUMNS,
    column: 'policy_id',
  },
};

export function snapshotScheduleRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Snapshot schedules'], params: schema.PolicyParams });
  const place = { params: ProjectRegionParams };
  const asks = { ...place, access: 'read', onlyAsks: true } as const;

  api.post(BASE, 'createSnapshotPolicy', 'Create a snapshot policy', {
    ...place,
    description:
      'Takes snapshots of volumes by schedules, and deletes those that are kept long enough. A project has 100 policies at most in a region, a policy 10 schedules and 100 volumes.',
    body: schema.CreatePolicy,
    answer: schema.Policy,
    handler: async ({ scope, body }) => presented(await policies.createPolicy(on, scope, body)),
  });

  api.get(BASE, 'listSnapshotPolicies', 'List snapshot policies', {
    ...place,
    query: schema.PolicyQuery,
    answer: schema.PolicyList,
    handler: async ({ scope }) => pageOf(await policies.listPolicies(on, scope), {}, presented),
  });

  api.get(ITSELF, 'getSnapshotPolicy', 'Get a snapshot policy', {
    versioned: POLICY_ROW,
    query: schema.PolicyQuery,
    answer: schema.Policy,
    handler: async ({ scope, params }) => presented(await policies.getPolicy(on, scope, params.policy_id)),
  });

  api.patch(ITSELF, 'updateSnapshotPolicy', 'Rename, pause or resume a snapshot policy', {
    description: 'What would have been due while it was paused is left out.',
    body: schema.UpdatePolicy,
    answer: schema.Policy,
    handler: async ({ scope, params, body }) =>
      presented(await policies.updatePolicy(on, scope, params.policy_id, body)),
  });

  api.delete(ITSELF, 'deleteSnapshotPolicy', 'Delete a snapshot policy', {
    description: 'Its snapshots stay, and nothing deletes them any more.',
    handler: ({ scope, params }) => policies.deletePolicy(on, scope, params.policy_id),
  });

  api.post(`${ONE}/add_schedules`, 'addSnapshotSchedules', 'Add schedules to a snapshot policy', {
    body: schema.AddSchedules,
    answer: schema.Policy,
    handler: async ({ scope, params, body }) =>
      presented(await policies.addSchedules(on, scope, params.policy_id, body.schedules)),
  });

  api.post(`${ONE}/remove_schedules`, 'removeSnapshotSchedules', 'Remove schedules from a snapshot policy', {
    description: 'Their snapshots stay, and nothing deletes them any more.',
    body: schema.RemoveSchedules,
    answer: schema.Policy,
    handler: async ({ scope, params, body }) =>
      presented(await policies.removeSchedules(on, scope, params.policy_id, body.schedule_ids)),
  });

  api.put(`${ONE}/add_volumes_to_policy`, 'addSnapshotPolicyVolumes', 'Add volumes to a snapshot policy', {
    body: schema.VolumeIds,
    answer: schema.Policy,
    handler: async ({ scope, params, body }) =>
      presented(await policies.addVolumes(on, scope, params.policy_id, body.volume_ids)),
  });

  api.put(`${ONE}/remove_volumes_from_policy`, 'removeSnapshotPolicyVolumes', 'Remove volumes from a snapshot policy', {
    description:
      'Their snapshots stay, and nothing deletes them any more. Volumes that the policy does not have are ignored.',
    body: schema.VolumeIds,
    answer: schema.Policy,
    handler: async ({ scope, params, body }) =>
      presented(await policies.removeVolumes(on, scope, params.policy_id, body.volume_ids)),
  });

  api.post(
    `${BASE}/estimate_max_policy_usage`,
    'estimateSnapshotPolicyUsage',
    'Find out what a snapshot policy may use',
    {
      ...asks,
      description: 'If each schedule keeps as many snapshots as it may. Nothing is created.',
      body: schema.CreatePolicy,
      answer: schema.PolicyUsage,
      handler: ({ scope, body }) => policies.estimateUsage(on, scope, body),
    },
  );

  api.get(SCHEDULE, 'getSnapshotSchedule', 'Get a snapshot schedule', {
    params: schema.ScheduleParams,
    versioned: SCHEDULE_ROW,
    answer: schema.Schedule,
    handler: async ({ scope, params }) => presentedSchedule(await policies.getSchedule(on, scope, params.schedule_id)),
  });

  api.patch(SCHEDULE, 'updateSnapshotSchedule', 'Change a snapshot schedule', {
    params: schema.ScheduleParams,
    body: schema.UpdateSchedule,
    answer: schema.Schedule,
    handler: async ({ scope, params, body }) =>
      presentedSchedule(await policies.updateSchedule(on, scope, params.schedule_id, body)),
  });

  api.post(
    `/cloud/v1/pricing/${PLACE}/lifecycle_policy`,
    'previewSnapshotPolicyPriceV1',
    'Preview the price of a snapshot policy',
    {
      ...asks,
      deprecated: true,
      body: schema.CreatePolicy,
      answer: schema.PolicyPrice,
      handler: async ({ scope, body }) => (await policies.estimateUsage(on, scope, body)).max_cost,
    },
  );

  api.post(
    `/cloud/v2/pricing/${PLACE}/lifecycle_policy`,
    'previewSnapshotPolicyPrice',
    'Preview the price of a snapshot policy by volume type',
    {
      ...asks,
      description:
        'The price of the snapshots if each schedule keeps as many as it may, after discount, including tax. Nothing is created.',
      body: schema.PricePolicy,
      answer: schema.PolicyPriceByType,
      handler: ({ scope, body }) => policies.priceByType(on, scope, body),
    },
  );
}

function presented(row: PolicyRow): schema.Policy {
  return {
    ...row,
    action: 'volume_snapshot',
    schedules: row.schedules.map(presentedSchedule),
    // JSON carries times as text.
    problems: row.problems.map(({ schedule_id, volume_id, problem, problem_since, try_at }) => ({
      schedule_id,
      volume_id,
      message: problem ?? '',
      since: offsetTimestamp(new Date(problem_since ?? 0)),
      next_attempt: try_at && offsetTimestamp(new Date(try_at)),
    })),
  };
}

function presentedSchedule(row: Omit<ScheduleRow, 'user_client_id' | 'created_at' | 'revision'>): schema.Schedule {
  const common = {
    id: row.id,
    owner: 'lifecycle_policy' as const,
    owner_id: row.policy_id,
    user_id: row.user_id,
    max_quantity: row.max_quantity,
    retention_time: row.retention && presentedSpan(row.retention),
    resource_name_template: row.resource_name_template,
  };
  if (row.timing.type === 'interval') return { type: 'interval', ...common, ...presentedSpan(row.timing) };
  const { minute = null, hour = null, day = null, day_of_week = null, week = null, month = null } = row.timing;
  const { timezone = 'UTC' } = row.timing;
  return { type: 'cron', ...common, minute, hour, day, day_of_week, week, month, timezone };
}

const presentedSpan = ({ weeks, days, hours, minutes }: Span) => ({
  weeks: weeks ?? null,
  days: days ?? null,
  hours: hours ?? null,
  minutes: minutes ?? null,
});
