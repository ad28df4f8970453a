import { type Static, Type } from 'typebox';
import type { RequestedLimits } from '../../../../db/json-columns.ts';
import * as wire from '../../../../lib/wire.ts';
import { GLOBAL_NAMES, REGIONAL_QUOTAS, UNCOUNTED_GLOBAL, UNCOUNTED_REGIONAL } from '../names.ts';
import { limits } from '../schema.ts';

export const REQUEST_STATUSES = ['done', 'in progress', 'rejected'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

const MOST_REGIONS = 100;

const Status = wire.Choice(REQUEST_STATUSES, { examples: ['in progress'] });

const Requested = Type.Unsafe<RequestedLimits>(
  wire.Input('RequestedLimits', {
    global_limits: Type.Optional(wire.Input('RequestedGlobalLimits', limits(GLOBAL_NAMES, UNCOUNTED_GLOBAL))),
    regional_limits: wire.OptionalList(
      wire.Input('RequestedRegionalLimits', {
        region_id: wire.IntegerId('Region ID'),
        ...limits(REGIONAL_QUOTAS, UNCOUNTED_REGIONAL),
      }),
      { maxItems: MOST_REGIONS },
    ),
  }),
);

const description = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'The reason',
  examples: ['Scale up mysql cluster'],
});

export const CreateLimitRequest = wire.Input(
  'CreateLimitRequest',
  { description, requested_limits: Requested },
  {
    description: 'Scale up mysql cluster',
    requested_limits: { regional_limits: [{ region_id: 1, vm_count_limit: 2000 }] },
  },
);
export type CreateLimitRequest = Static<typeof CreateLimitRequest>;

export const DecideLimitRequest = wire.Input(
  'DecideLimitRequest',
  {
    status: wire.Choice(['done', 'rejected'], '`done` makes the requested limits those of the account'),
  },
  { status: 'done' },
);

export const LimitRequestAnswer = wire.Named('LimitRequest', {
  id: Type.Integer({ examples: [1] }),
  client_id: Type.Integer({ examples: [1] }),
  description: Type.String(),
  requested_limits: Requested,
  status: Status,
  created_at: wire.Timestamp(),
  updated_at: wire.Timestamp(),
});
export type LimitRequestAnswer = Static<typeof LimitRequestAnswer>;
export const LimitRequestList = wire.listOf(LimitRequestAnswer, 'LimitRequestList');

export const LimitRequestListQuery = wire.Query({
  ...wire.listQuery(),
  created_from: Type.Optional(wire.QueryTime('Only those from this time on')),
  created_to: Type.Optional(wire.QueryTime('Only those up to this time')),
  request_ids: wire.RepeatedId('Only these requests'),
  status: wire.OptionalList(Status, { maxItems: REQUEST_STATUSES.length, description: 'Repeat for several' }),
});
export type LimitRequestListQuery = Static<typeof LimitRequestListQuery>;

export const LimitRequestParams = Type.Object({ request_id: wire.IntegerId('Limit request ID') });
