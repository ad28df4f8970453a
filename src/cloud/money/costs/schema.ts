import { type Static, type TProperties, Type } from 'typebox';
import { Uuid } from '../../../lib/resource-fields.ts';
import * as wire from '../../../lib/wire.ts';

const { Array: List, Integer, Number: Num, Optional, String: Text } = Type;

/** Types of what costs something, as the published reports name them. */
export const USED_TYPES = [
  'baremetal',
  'egress_traffic',
  'external_ip',
  'file_share',
  'floatingip',
  'image',
  'instance',
  'load_balancer',
  'log_index',
  'snapshot',
  'volume',
] as const;
export type UsedType = (typeof USED_TYPES)[number];

/** Types of the published reports that nothing here has. They may be asked for. */
const UNUSED_TYPES = [
  'ai_cluster',
  'ai_virtual_cluster',
  'backup',
  'basic_vm',
  'containers',
  'dbaas_postgresql_connection_pooler',
  'dbaas_postgresql_cpu',
  'dbaas_postgresql_memory',
  'dbaas_postgresql_public_network',
  'dbaas_postgresql_volume',
  'functions',
  'functions_calls',
  'functions_traffic',
  'inference',
] as const;
const REPORTED_TYPES = [...USED_TYPES, ...UNUSED_TYPES];

/** Fields by which a report can be filtered, by type; those of the types that nothing has are not told apart. */
const machine = ['flavor', 'last_name', 'type', 'uuid'] as const;
const FILTER_FIELDS = {
  baremetal: machine,
  egress_traffic: ['instance_name', 'instance_type', 'port_id', 'type', 'vm_id'],
  external_ip: ['attached_to_vm', 'ip_address', 'network_id', 'port_id', 'subnet_id', 'type'],
  file_share: ['file_share_type', 'last_name', 'last_size', 'type', 'uuid'],
  floatingip: ['ip_address', 'last_name', 'type', 'uuid'],
  image: ['last_name', 'last_size', 'type', 'uuid'],
  instance: machine,
  load_balancer: machine,
  log_index: ['last_name', 'last_size', 'type', 'uuid'],
  snapshot: ['last_name', 'last_size', 'source_volume_uuid', 'type', 'uuid', 'volume_type'],
  volume: ['attached_to_vm', 'last_name', 'last_size', 'type', 'uuid', 'volume_type'],
} as const;

const filterForms = [
  ...Object.entries(FILTER_FIELDS).map(([type, fields]) => filterForm([type], fields)),
  filterForm(UNUSED_TYPES, [...new Set(Object.values(FILTER_FIELDS).flat()), 'schedule_id']),
];
function filterForm(types: readonly string[], fields: readonly string[]) {
  return Type.Object(
    {
      type:
        types.length === 1 ? Type.Literal(types[0] ?? '') : wire.oneOf(types, { description: 'Used by nothing here' }),
      field: wire.oneOf(fields, { description: 'Field to filter by' }),
      values: List(Text({ maxLength: 255 }), { minItems: 1, maxItems: 100, description: 'Its exact values' }),
    },
    { additionalProperties: false, title: `CostFilterOf_${types.length === 1 ? types[0] : 'others'}` },
  );
}
interface SchemaFilter {
  type: string;
  field: string;
  values: string[];
}

const ids = (what: string) =>
  wire.OptionalList(wire.IntegerId(`${what} ID`), { maxItems: 1_000, description: `Only these ${what}s` });
const filters = {
  regions: ids('region'),
  types: wire.OptionalList(wire.oneOf(REPORTED_TYPES, { examples: ['instance'] }), {
    maxItems: 50,
    description: 'Only these types of resources',
  }),
  schema_filter: Optional(
    Type.Unsafe<SchemaFilter>({
      type: 'object',
      discriminator: { propertyName: 'type' },
      required: ['type'],
      oneOf: filterForms,
      description: 'Only resources of the type whose field has one of the values',
    }),
  ),
  tags: Optional(
    wire.Input('CostTagFilter', {
      condition_type: Optional(wire.oneOf(['AND', 'OR'], { default: 'OR', description: 'How they are combined' })),
      conditions: List(
        wire.Input('CostTagCondition', {
          key: wire.OptionalText({ minLength: 1, maxLength: 128, description: 'Key of the tag' }),
          value: wire.OptionalText({ minLength: 1, maxLength: 256, description: 'Value of the tag' }),
          strict: wire.OptionalFlag({
            default: true,
            description: 'False: the value contains it, in upper or lower case',
          }),
        }),
        { minItems: 1, maxItems: 10 },
      ),
    }),
  ),
};
const projects = ids('project');
const days = {
  time_from: wire.QueryTime('The report begins with this day in UTC'),
  time_to: wire.QueryTime('The report ends before this day in UTC'),
  enable_last_day: wire.OptionalFlag({ default: false, description: 'Whether it ends after the last day instead' }),
};
const rounding = wire.OptionalFlag({
  default: true,
  description: 'Whether costs are rounded to 5 decimals, a half to the even digit',
});
const format = (csv: string) =>
  Optional(wire.oneOf(['json', csv], { default: 'json', description: 'Format of the answer' }));

const ORDER_FIELDS = ['billing_value', 'first_seen', 'last_name', 'last_seen', 'project', 'region', 'type'] as const;
type OrderField = (typeof ORDER_FIELDS)[number];
export type ReportOrder = `${OrderField}.${'asc' | 'desc'}`;
const orders = ORDER_FIELDS.flatMap((field) => [`${field}.asc`, `${field}.desc`] as ReportOrder[]);
const direction = Optional(wire.oneOf(['asc', 'desc'], {}));
const sorted = {
  limit: Optional({ ...wire.listQuery(10).limit }),
  offset: wire.listQuery().offset,
  order_by: wire.OptionalList(Type.Unsafe<ReportOrder>({ type: 'string', enum: orders }), {
    maxItems: ORDER_FIELDS.length,
    description: 'Order of the resources, the most important first; by default `project.asc`',
  }),
  sorting: wire.OptionalList(
    wire.Input(
      'CostSorting',
      Object.fromEntries(ORDER_FIELDS.map((field) => [field, direction])) as Record<OrderField, typeof direction>,
    ),
    { maxItems: ORDER_FIELDS.length, deprecated: true, description: 'The older form of `order_by`' },
  ),
};

const march = { time_from: '2026-03-01T00:00:00Z', time_to: '2026-04-01T00:00:00Z' };
export const CostTotalsRequest = wire.Input(
  'CostTotalsRequest',
  { ...days, projects, ...filters, response_format: format('csv_totals'), rounding },
  { ...march, types: ['instance', 'volume'] },
);
export type CostTotalsRequest = Static<typeof CostTotalsRequest>;

export const CostResourcesRequest = wire.Input(
  'CostResourcesRequest',
  { ...days, projects, ...filters, ...sorted, response_format: format('csv_records'), rounding },
  { ...march, order_by: ['billing_value.desc'], limit: 10 },
);
export type CostResourcesRequest = Static<typeof CostResourcesRequest>;

export const UsageRequest = wire.Input(
  'UsageRequest',
  { ...days, projects: Optional(Type.Union([projects, Type.Null()])), ...filters, ...sorted },
  { ...march, limit: 10 },
);
export type UsageRequest = Static<typeof UsageRequest>;

const month = (description: string, options: object = {}) =>
  wire.OptionalText({
    pattern: '^\\d{4}-(0[1-9]|1[0-2])(-[0-9T:.Z+-]{2,30})?$',
    rule: 'Must be a month such as 2026-03.',
    description,
    examples: ['2026-03'],
    ...options,
  });
export const MonthlyCostTotalsRequest = wire.Input(
  'MonthlyCostTotalsRequest',
  {
    year_month: wire.OptionalText({
      pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
      rule: 'Must be a month such as 2026-03.',
      description: 'Month in UTC',
      examples: ['2026-03'],
    }),
    time_from: month('The older name of the month', { deprecated: true }),
    time_to: month('The same month', { deprecated: true }),
    ...filters,
    response_format: format('csv_totals'),
    rounding,
  },
  { year_month: '2026-03' },
);
export type MonthlyCostTotalsRequest = Static<typeof MonthlyCostTotalsRequest>;

export type ReportFilter = Pick<CostTotalsRequest, keyof typeof filters | 'projects'>;

const used = {
  type: wire.oneOf(USED_TYPES, { description: 'Type of resource', examples: ['volume'] }),
  region: Integer({ description: 'Region ID' }),
  region_id: Integer({ description: 'Region ID' }),
  billing_metric_name: Text({ description: 'What is counted', examples: ['volume_t_standard_gbm'] }),
  billing_value: Num({ description: 'How much of it', examples: [216_000] }),
  billing_value_unit: wire.oneOf(['minutes', 'gbminutes', 'bytes'], {
    description: 'Minutes, or GiB times minutes; bytes of traffic',
  }),
  flavor: wire.OptionalText({ description: 'Of machines and load balancers' }),
  volume_type: wire.OptionalText({ description: 'Of volumes and snapshots' }),
  file_share_type: wire.OptionalText({ description: 'Of file shares' }),
  instance_type: Optional(wire.oneOf(['vm', 'baremetal'], { description: 'What sent the traffic' })),
};
const ofResource = {
  project_id: Integer({ description: 'Project ID' }),
  first_seen: wire.Timestamp('When it was first used in the time of the report'),
  last_seen: wire.Timestamp('Until when it was used'),
  uuid: wire.OptionalTextOrNull({ description: 'ID of the resource; null for logs', examples: [] }),
  last_name: wire.OptionalText({ description: 'Its last name in that time' }),
  tags: Optional(
    wire.nullable(List(Type.Record(Text(), Text()), { description: 'Its last tags in that time, one in each object' })),
  ),
  last_size: wire.OptionalInteger({ description: 'Its last size in that time' }),
  size_unit: Optional(wire.oneOf(['GiB', 'bytes'], { description: 'Unit of last_size' })),
  attached_to_vm: Optional(wire.nullable(Uuid('Instance that has the volume or address'))),
  source_volume_uuid: Optional(Uuid('Volume of a snapshot')),
  ip_address: wire.OptionalText({ description: 'Address of a floating or external IP' }),
  port_id: Optional(Uuid('Port of an external IP, or through which the traffic went')),
  subnet_id: Optional(Uuid('Subnet of an external IP')),
  network_id: Optional(Uuid('Network of an external IP')),
  vm_id: Optional(Uuid('What sent the traffic')),
  instance_name: wire.OptionalTextOrNull({ description: 'Its last name in that time' }),
};
const costs = {
  billing_feature_name: wire.TextOrNull({ description: 'For people', examples: ['Volume (standard), GiB'] }),
  cost: wire.nullable(
    Num({ description: 'After discount, with tax. Null unless the price can be shown', examples: [26.325] }),
  ),
  currency: wire.TextOrNull({ description: 'ISO 4217 code', examples: ['EUR'] }),
  err: wire.TextOrNull({ description: 'Why there is no cost' }),
};
const price_status = wire.oneOf(['error', 'hide', 'show'], {
  description: '`hide`: prices are hidden from the account. `error`: one of the results has no price.',
});
const count = Integer({ minimum: 0, description: 'Number of all results' });

const UsageTotal = wire.Named('UsageTotal', used);
export type UsageTotal = Static<typeof UsageTotal>;
const UsedResource = wire.Named('UsedResource', { ...used, ...ofResource });
export type UsedResource = Static<typeof UsedResource>;
const CostTotal = wire.Named('CostTotal', { ...used, ...costs });
export type CostTotal = Static<typeof CostTotal>;
const ResourceCost = wire.Named('ResourceCost', { ...used, ...ofResource, ...costs });
export type ResourceCost = Static<typeof ResourceCost>;

export const CostTotals = wire.Named('CostTotals', { count, price_status, results: List(CostTotal) });
export type CostTotals = Static<typeof CostTotals>;
export const ResourceCosts = wire.Named('ResourceCosts', { count, price_status, results: List(ResourceCost) });
export type ResourceCosts = Static<typeof ResourceCosts>;
export const Usage = wire.Named('UsageReport', {
  count,
  resources: List(UsedResource),
  totals: List(UsageTotal, { description: 'Of all resources, not only those on this page' }),
});
export type Usage = Static<typeof Usage>;

const fieldsOf = <P extends TProperties>(properties: P) => Object.keys(properties) as (keyof P & string)[];
/** The columns of CSV. */
export const TOTAL_FIELDS = fieldsOf(CostTotal.properties);
export const RESOURCE_FIELDS = fieldsOf(ResourceCost.properties);

export const asJsonOrCsv = (schema: typeof CostTotals | typeof ResourceCosts, example: string) => ({
  description: 'As JSON, or as CSV with the same fields',
  content: {
    'application/json': { schema },
    'text/csv': { schema: Text({ examples: [example] }) },
  },
});
