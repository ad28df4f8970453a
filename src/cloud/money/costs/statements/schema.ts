import { type Static, type TProperties, Type } from 'typebox';
import * as wire from '../../../../lib/wire.ts';
import { USED_TYPES } from '../schema.ts';

const { Array: List, Integer, Number: Num, Optional, String: Text } = Type;

const PARTS = ['client', 'project', 'resource', 'day'] as const;

const statement = {
  client_id: wire.RepeatedId('Only these accounts; without it, all that you manage'),
  project_id: wire.RepeatedId('Only these projects'),
  region_id: wire.RepeatedId('Only these regions'),
  type: wire.OptionalList(wire.oneOf(USED_TYPES, { examples: ['volume'] }), {
    maxItems: 20,
    description: 'Only these types of resources. Repeat the parameter for several',
  }),
  from: Optional(wire.QueryTime('From this time on; if left out, from the beginning of the month in UTC')),
  to: Optional(wire.QueryTime('Before this time, 31 days later at most; until now if left out')),
  by: wire.OptionalList(wire.oneOf(PARTS, { examples: ['project'] }), {
    maxItems: 4,
    description:
      'What has lines of its own, besides accounts, regions and kinds of resources. Repeat the parameter for several',
  }),
  limit: wire.OptionalInteger({
    minimum: 1,
    maximum: 1_000,
    default: 100,
    description: 'Most lines of a page in JSON',
  }),
  page_token: wire.OptionalText({ pattern: '^[\\w-]{1,500}$', description: '`next_page_token` of the page before' }),
};
export const StatementQuery = wire.Query(statement);
export type StatementQuery = Static<typeof StatementQuery>;
export const CostQuery = wire.Query({
  ...statement,
  price: wire.OptionalChoice(['retail', 'wholesale'], {
    description:
      'What accounts pay; or what resellers owe the platform for them, for the platform and administrators of the reseller',
  }),
  reseller_id: Optional(wire.IntegerId('Of wholesale: only what this reseller owes')),
});
export type CostQuery = Static<typeof CostQuery>;

const usage = {
  client_id: Integer({ description: 'Account' }),
  project_id: wire.IntegerOrNull({ description: 'Project; by project or resource' }),
  resource_id: wire.TextOrNull({ description: 'ID of the resource; by resource' }),
  name: wire.TextOrNull({ description: 'Its last name in that time; by resource' }),
  day: wire.TextOrNull({ description: 'Day in UTC; by day', examples: ['2026-03-01'] }),
  region_id: Integer({ description: 'Region' }),
  type: wire.oneOf(USED_TYPES, { description: 'Type of resource', examples: ['volume'] }),
  kind: Text({
    description: 'Flavor or type of volume, or what sent the traffic; empty if there is one kind only',
    examples: ['standard'],
  }),
  quantity: Integer({ description: 'How much was used' }),
  unit: wire.oneOf(['seconds', 'gib_seconds', 'bytes'], {
    description: 'Seconds, or GiB times seconds; bytes of traffic',
  }),
};
const costs = {
  cost: wire.nullable(
    Num({
      description: 'After discount, with tax, not rounded. Null unless it can be shown',
      examples: [8.8452],
    }),
  ),
  currency: wire.TextOrNull({ description: 'ISO 4217 code', examples: ['EUR'] }),
  err: wire.TextOrNull({ description: 'Why there is no cost' }),
};

const page = {
  next_page_token: wire.TextOrNull({
    description: 'For the next page, also if this one has fewer lines than the limit; null on the last one',
  }),
};
const UsageLine = wire.Named('UsageLine', usage);
export type UsageLine = Static<typeof UsageLine>;
const CostLine = wire.Named('CostLine', { ...usage, ...costs });
export type CostLine = Static<typeof CostLine>;
export const UsageStatement = wire.Named('UsageStatement', { lines: List(UsageLine), ...page });
export type UsageStatement = Static<typeof UsageStatement>;
export const CostStatement = wire.Named('CostStatement', { lines: List(CostLine), ...page });
export type CostStatement = Static<typeof CostStatement>;

const rate = {
  price_per_hour: wire.nullable(
    Num({ description: 'What all of it costs in an hour. Null unless it can be shown', examples: [0.5] }),
  ),
  price_per_month: wire.nullable(Num({ description: 'The same for 720 hours', examples: [360] })),
};
const RunningCost = wire.Named('RunningCost', {
  region_id: usage.region_id,
  type: usage.type,
  kind: usage.kind,
  count: Integer({ description: 'How many there are' }),
  amount: Integer({ description: 'GiB, of what has a size; else the same as `count`' }),
  machines_on: wire.IntegerOrNull({ description: 'How many of the machines are on; null for other things' }),
  stops_on_suspension: wire.IntegerOrNull({
    description: 'How many of them a suspension stops; null for other things',
  }),
  ...rate,
  err: costs.err,
});
export const RunningCosts = wire.Named('RunningCosts', {
  client_id: usage.client_id,
  status: wire.oneOf(['active', 'paused'], { description: 'Of the account; `paused` while it is suspended' }),
  suspension_stops_machines: Type.Boolean({ description: 'Whether a suspension stops machines of accounts' }),
  ...rate,
  currency: costs.currency,
  lines: List(RunningCost, { description: 'By region and kind' }),
});
export type RunningCosts = Static<typeof RunningCosts>;
export const RunningParams = Type.Object({ client_id: wire.IntegerId('Account') });

const namesOf = <P extends TProperties>(properties: P) => Object.keys(properties) as (keyof P & string)[];
/** The columns of CSV. */
export const USAGE_COLUMNS = namesOf(usage);
export const COST_COLUMNS = namesOf({ ...usage, ...costs });

/** The answers by media type. */
export const asPageOrCsv = (schema: typeof UsageStatement | typeof CostStatement) => ({
  description: 'By `Accept`: a page, or everything as CSV with the same fields',
  content: {
    'application/json': { schema },
    'text/csv': { schema: Text({ description: 'RFC 4180' }) },
  },
});
