import { type Static, type TProperties, type TSchema, type TStringOptions, Type } from 'typebox';
import { Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import * as wire from '../../../../lib/wire.ts';
import { VolumeTypeName } from '../../../ground/catalog/schema.ts';

const POLICY_STATUSES = ['active', 'paused'] as const;

export const MOST_SCHEDULES = 10;
export const MOST_VOLUMES = 100;

const MAX_UNITS = { weeks: 521, days: 3_650, hours: 87_600, minutes: 5_256_000 };
/** Without examples: those of an update would have fields of both types. */
const count = (unit: keyof typeof MAX_UNITS) =>
  wire.OptionalInteger({ minimum: 0, maximum: MAX_UNITS[unit], description: `Number of ${unit}` });
const unitsInput = { weeks: count('weeks'), days: count('days'), hours: count('hours'), minutes: count('minutes') };

const cronFields = {
  minute: { description: "Minute (0-59, '*') or a comma-separated list of minutes", examples: ['30'] },
  hour: { description: "Hour (0-23, '*') or a comma-separated list of hours", examples: ['0, 20'] },
  day: { description: "Day of the month (1-31, '*') or a comma-separated list of days", examples: ['5'] },
  day_of_week: {
    description: 'Weekday or a comma-separated list of weekdays (mon,tue,wed,thu,fri,sat,sun,*)',
    examples: ['mon,fri'],
  },
  week: { description: "ISO week (1-53, '*') or a comma-separated list of weeks", examples: ['1'] },
  month: { description: "Month (1-12, '*') or a comma-separated list of months", examples: ['1,6'] },
};
type CronField = keyof typeof cronFields;
const inEach = <S extends TSchema>(make: (annotations: TStringOptions) => S) =>
  Object.fromEntries(Object.entries(cronFields).map(([name, annotations]) => [name, make(annotations)])) as Record<
    CronField,
    S
  >;

const cronInput = {
  ...inEach((annotations) => wire.OptionalText({ minLength: 1, maxLength: 250, ...annotations })),
  timezone: wire.OptionalText({
    minLength: 1,
    maxLength: 64,
    description: 'A time zone of the IANA database; UTC if it is left out',
    examples: ['Europe/Berlin'],
  }),
};

export const PLACEHOLDERS = [
  'volume_id',
  'schedule_id',
  'lifecycle_policy_id',
  'datetime_utc',
  'local_datetime',
] as const;
const TEMPLATE = 'Snapshot of volume {volume_id} created by policy {lifecycle_policy_id}';

const Retention = wire.Input('SnapshotRetention', unitsInput, { weeks: 2 });

/** What schedules of both types have. Without defaults, since an update has these fields, too. */
const kept = {
  max_quantity: wire.OptionalInteger({
    minimum: 1,
    maximum: 10_000,
    description: 'How many snapshots of each volume are kept; 2 if it is left out',
    examples: [2],
  }),
  retention_time: Type.Optional(
    Type.Unsafe<Static<typeof Retention> | null>({
      ...wire.orNull(Retention),
      description: 'Time after which each snapshot is deleted; null: never',
    }),
  ),
  resource_name_template: wire.OptionalText({
    minLength: 1,
    maxLength: 200,
    description: `Template for the names of the snapshots, with ${PLACEHOLDERS.map((one) => `{${one}}`).join(', ')}. Names end after 255 characters.`,
    examples: [TEMPLATE],
  }),
};
export const DEFAULTS = { max_quantity: 2, resource_name_template: TEMPLATE };

const CreateCronSchedule = Type.Object(
  { type: Type.Literal('cron'), ...cronInput, ...kept },
  { title: 'CreateCronSchedule', additionalProperties: false },
);
const CreateIntervalSchedule = Type.Object(
  { type: Type.Literal('interval'), ...unitsInput, ...kept },
  { title: 'CreateIntervalSchedule', additionalProperties: false },
);
export type CreateSchedule = Static<typeof CreateCronSchedule> | Static<typeof CreateIntervalSchedule>;
const CreateSchedule = Type.Unsafe<CreateSchedule>({
  type: 'object',
  title: 'CreateSnapshotSchedule',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [CreateCronSchedule, CreateIntervalSchedule],
});

const NEW_SCHEDULES = [
  { type: 'cron', day_of_week: 'fri, tue', hour: '0, 20', minute: '30', timezone: 'UTC', max_quantity: 2 },
  { type: 'interval', hours: 2, minutes: 1, max_quantity: 2, retention_time: { days: 1 } },
];
const schedules = Type.Array(CreateSchedule, {
  maxItems: MOST_SCHEDULES,
  description: 'When snapshots are taken, and how long they are kept',
});
const volumeIds = Type.Array(UuidInput('Volume ID'), {
  maxItems: MOST_VOLUMES,
  description: 'Volumes that snapshots are taken of',
});
const Status = wire.Choice(POLICY_STATUSES, {
  description: 'While it is paused, no snapshots are taken, and none are deleted',
  examples: ['active'],
});

export const CreatePolicy = wire.Input(
  'CreateSnapshotPolicy',
  {
    name: wire.ResourceName('Name'),
    action: wire.Choice(['volume_snapshot'], 'What the policy does'),
    status: Type.Optional(Status),
    schedules: Type.Optional(schedules),
    volume_ids: Type.Optional(volumeIds),
  },
  { name: 'every night', action: 'volume_snapshot', schedules: NEW_SCHEDULES },
);
export type CreatePolicy = Static<typeof CreatePolicy>;

export const UpdatePolicy = wire.Input(
  'UpdateSnapshotPolicy',
  { name: Type.Optional(wire.ResourceName('Name')), status: Type.Optional(Status) },
  { name: 'every night', status: 'paused' },
);
export type UpdatePolicy = Static<typeof UpdatePolicy>;

export const PricePolicy = wire.Input(
  'SnapshotPolicyPriceRequest',
  {
    volume_ids: { ...volumeIds, minItems: 1 },
    schedules: Type.Optional(schedules),
  },
  { volume_ids: ['726ecfcc-7fd0-4e30-a86e-7892524aa483'], schedules: NEW_SCHEDULES },
);

export const AddSchedules = wire.Input(
  'AddSnapshotSchedules',
  { schedules: { ...schedules, minItems: 1 } },
  { schedules: NEW_SCHEDULES },
);
export const RemoveSchedules = wire.Input(
  'RemoveSnapshotSchedules',
  {
    schedule_ids: Type.Array(UuidInput('Schedule ID'), {
      minItems: 1,
      maxItems: MOST_SCHEDULES,
      description: 'Schedules of the policy',
    }),
  },
  { schedule_ids: ['1488e2ce-f906-47fb-ba32-c25a3f63df4f'] },
);
export const VolumeIds = wire.Input(
  'SnapshotPolicyVolumes',
  { volume_ids: { ...volumeIds, minItems: 1 } },
  { volume_ids: ['726ecfcc-7fd0-4e30-a86e-7892524aa483'] },
);

export const UpdateSchedule = wire.Input(
  'UpdateSnapshotSchedule',
  {
    type: wire.OptionalChoice(['cron', 'interval'], {
      description: 'Another type replaces all of the timing; it is needed to send fields of that type',
      examples: ['cron'],
    }),
    ...cronInput,
    ...unitsInput,
    ...kept,
  },
  { hour: '0, 20', max_quantity: 3 },
);
export type UpdateSchedule = Static<typeof UpdateSchedule>;

export const PolicyQuery = wire.Query({
  need_volumes: wire.OptionalFlag({ description: 'Volumes are always shown; older clients send this' }),
});
export const PolicyParams = Type.Object({ ...wire.ProjectRegion, policy_id: wire.IntegerId('Policy ID') });
export const ScheduleParams = wire.PlaceParams({ schedule_id: 'Schedule ID' });

const counted = (unit: string) => wire.IntegerOrNull({ description: `Number of ${unit}`, examples: [2] });
const unitsAnswer = {
  weeks: counted('weeks'),
  days: counted('days'),
  hours: counted('hours'),
  minutes: counted('minutes'),
};
const RetentionAnswer = wire.Named('SnapshotRetentionTime', unitsAnswer);
const common = {
  id: Uuid('Schedule ID'),
  owner: Type.Literal('lifecycle_policy'),
  owner_id: Type.Integer({ description: 'Policy ID', examples: [1] }),
  user_id: Type.Integer({ description: 'User who made the schedule', examples: [12] }),
  max_quantity: Type.Integer({ description: 'How many snapshots of each volume are kept', examples: [2] }),
  retention_time: Type.Unsafe<Static<typeof RetentionAnswer> | null>(wire.orNull(RetentionAnswer)),
  resource_name_template: Type.String({ examples: [TEMPLATE] }),
};
const scheduleAnswer = <T extends 'cron' | 'interval', P extends TProperties>(type: T, own: P, title: string) =>
  wire.Named(title, { type: Type.Literal(type), ...common, ...own });
const CronSchedule = scheduleAnswer(
  'cron',
  {
    ...inEach((annotations) => wire.TextOrNull(annotations)),
    timezone: Type.String({ description: 'Time zone', examples: ['UTC'] }),
  },
  'CronSchedule',
);
const IntervalSchedule = scheduleAnswer('interval', unitsAnswer, 'IntervalSchedule');
export type Schedule = Static<typeof CronSchedule> | Static<typeof IntervalSchedule>;
export const Schedule = Type.Unsafe<Schedule>({
  type: 'object',
  title: 'SnapshotSchedule',
  oneOf: [CronSchedule, IntervalSchedule],
});

const Problem = wire.Named('SnapshotPolicyProblem', {
  schedule_id: Uuid('Schedule ID'),
  volume_id: Uuid('Volume ID'),
  message: Type.String({
    description: 'Why the snapshot could not be taken, or an old one not be deleted',
    examples: ['Quota limit exceeded: snapshot_count is limited to 10, 10 in use, 1 more requested'],
  }),
  since: wire.OffsetTimestamp(),
  next_attempt: wire.nullable(wire.OffsetTimestamp()),
});

export const Policy = wire.Named('SnapshotPolicy', {
  id: Type.Integer({ description: 'Policy ID', examples: [1] }),
  name: Type.String({ examples: ['every night'] }),
  action: Type.Literal('volume_snapshot'),
  status: Status,
  project_id: Type.Integer({ description: 'Project ID', examples: [1] }),
  region_id: Type.Integer({ description: 'Region ID', examples: [1] }),
  user_id: Type.Integer({ description: 'User who made the policy', examples: [11] }),
  schedules: Type.Array(Schedule),
  volumes: Type.Array(
    wire.Named('SnapshotPolicyVolume', {
      volume_id: Uuid('Volume ID'),
      volume_name: Type.String({ examples: ['data'] }),
    }),
  ),
  problems: Type.Array(Problem, { description: 'What is tried again; empty if all is well' }),
});
export type Policy = Static<typeof Policy>;
export const PolicyList = wire.listOf(Policy, 'SnapshotPolicyList');

const amount = (description: string) => wire.nullable(Type.Number({ description, examples: [7.2] }));
const account = {
  currency_code: wire.TextOrNull({ description: 'Currency of the account', examples: ['EUR'] }),
  price_status: wire.Choice(['error', 'hide', 'show'], {
    description: '`hide`: prices are hidden from the account. `error`: there is no price for one of the types.',
    examples: ['show'],
  }),
  price_without_discount_per_month: amount('Price of a month of 720 hours before discount, including tax'),
  tax_percent: Type.Number({ description: 'Tax rate in percent', examples: [17] }),
};
export const PolicyPrice = wire.Named('SnapshotPolicyPrice', {
  ...account,
  discount_percent: amount('Applied discount as a fraction'),
  price_per_hour: amount('Price per hour after discount, including tax'),
  price_per_month: amount('Price of a month of 720 hours after discount, including tax'),
});
export const PolicyUsage = wire.Named('SnapshotPolicyUsage', {
  max_cost: PolicyPrice,
  max_volume_snapshot_count_usage: Type.Integer({
    description: 'Snapshots of all volumes, if each schedule keeps as many as it may',
    examples: [2],
  }),
  max_volume_snapshot_sequence_length: Type.Integer({
    description: 'Snapshots of one volume, in the same case',
    examples: [2],
  }),
  max_volume_snapshot_size_usage: Type.Integer({ description: 'Their size in GiB', examples: [20] }),
});
const PeriodPrice = wire.Named('SnapshotPolicyPeriodPrice', {
  volumes: Type.Array(
    wire.Named('SnapshotTypePrice', {
      type: VolumeTypeName,
      discount: amount('Applied discount as a fraction'),
      price: amount('Price after discount, including tax'),
    }),
  ),
});
export const PolicyPriceByType = wire.Named('SnapshotPolicyPriceByType', {
  ...account,
  discount: amount('Applied discount as a fraction'),
  per_hour: PeriodPrice,
  per_month: PeriodPrice,
  total_price_per_hour: amount('Price per hour after discount, including tax'),
  total_price_per_month: amount('Price of a month of 720 hours after discount, including tax'),
});
export type PolicyPriceByType = Static<typeof PolicyPriceByType>;
export type PolicyUsage = Static<typeof PolicyUsage>;
