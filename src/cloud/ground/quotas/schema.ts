import { type Static, Type } from 'typebox';
import type { QuotaExceededError } from '../../../lib/errors.ts';
import { LEGACY } from '../../../lib/legacy.ts';
import { Input, IntegerId, Named, nullable, OptionalIntegerOrNull, ReadOnly, Timestamp } from '../../../lib/wire.ts';
import { GLOBAL_NAMES, limitField, REGIONAL_QUOTAS, usageField } from './names.ts';

type ExceededQuota = QuotaExceededError['info'];

export type ExceededQuotasAnswer = Record<string, number>;

/** Three numbers for each quota that would be exceeded. */
export function exceededQuotasSchema(title: string, quotas: readonly string[]) {
  const numbers = quotas.flatMap((quota) =>
    (
      [
        ['limit', 'Quota of the account'],
        ['requested', 'Requested amount'],
        ['usage', 'Current usage of the account'],
      ] as const
    ).map(([of, description]) => [`${quota}_${of}`, { type: 'integer', description }]),
  );
  return Type.Unsafe<ExceededQuotasAnswer>({
    type: 'object',
    title,
    description: 'Limit, request and usage for each quota that would be exceeded; empty if none would be.',
    properties: Object.fromEntries(numbers),
  });
}

export function presentedExceeded(exceeded: readonly ExceededQuota[]): ExceededQuotasAnswer {
  return Object.fromEntries(
    exceeded.flatMap(({ attribute, limit, requested_usage, current_usage }) => [
      [`${attribute}_limit`, limit],
      [`${attribute}_requested`, requested_usage],
      [`${attribute}_usage`, current_usage],
    ]),
  );
}

const MOST = 1_000_000_000;

export type QuotaFields = Record<string, number>;

const numbers = (quotas: readonly string[]) =>
  Object.fromEntries(
    quotas.flatMap((quota) => [
      [limitField(quota), Type.Integer({ description: 'How many there may be', examples: [1000] })],
      [usageField(quota), Type.Integer({ description: 'How many there are', examples: [3] })],
    ]),
  );
const limit = Type.Integer({ minimum: 0, maximum: MOST, examples: [2000] });

const uncounted = Type.Integer({
  ...limit,
  ...LEGACY,
  description: 'Kept and shown, but nothing here counts it',
});

/** Limits by name, as clients send them. */
export const limits = (quotas: readonly string[], uncountedQuotas: readonly string[]) =>
  Object.fromEntries([
    ...quotas.map((quota) => [limitField(quota), Type.Optional(limit)]),
    ...uncountedQuotas.map((quota) => [limitField(quota), Type.Optional(uncounted)]),
  ]);
const changes = (quotas: readonly string[]) =>
  Object.fromEntries(
    quotas.map((quota) => [
      limitField(quota),
      OptionalIntegerOrNull({ ...limit, description: 'Null for that of the catalogue' }),
    ]),
  );

export const RegionalQuotas = Type.Unsafe<QuotaFields>(
  Named('RegionalQuotas', {
    region_id: Type.Integer({ description: 'Region ID', examples: [1] }),
    ...numbers(REGIONAL_QUOTAS),
  }),
);
export const GlobalQuotas = Type.Unsafe<QuotaFields>(Named('GlobalQuotas', numbers(GLOBAL_NAMES)));
export const AllQuotas = Named('ClientQuotas', {
  global_quotas: GlobalQuotas,
  regional_quotas: Type.Array(RegionalQuotas, {
    description: 'Of the regions in which the account has or had something, or limits of its own',
  }),
});
export type AllQuotas = Static<typeof AllQuotas>;

export const ChangeRegionalQuotas = Type.Unsafe<Record<string, number | null>>(
  Input('ChangeRegionalQuotas', changes(REGIONAL_QUOTAS), { vm_count_limit: 2000 }),
);
export const ChangeGlobalQuotas = Type.Unsafe<Record<string, number | null>>(
  Input('ChangeGlobalQuotas', changes(GLOBAL_NAMES), { project_count_limit: 20_000 }),
);

export const LOWEST_THRESHOLD = 60;
const threshold = Type.Integer({
  minimum: LOWEST_THRESHOLD,
  maximum: 100,
  description: 'Percentage of a quota at which to warn',
  examples: [95],
});
export const DEFAULT_THRESHOLD = 80;

const use = Named('QuotaUse', {
  limit: Type.Integer({ description: 'How many there might be', examples: [100] }),
  usage: Type.Integer({ description: 'How many there were', examples: [80] }),
});
type Use = Static<typeof use>;
const uses = (quotas: readonly string[]) =>
  Object.fromEntries(
    quotas.flatMap((quota) => [limitField(quota), usageField(quota)].map((field) => [field, Type.Optional(use)])),
  );
const Told = Type.Object({
  global_quotas: Type.Unsafe<Record<string, Use>>(Type.Object(uses(GLOBAL_NAMES))),
  regional_quotas: Type.Array(
    Type.Unsafe<{ region_id: number; region_name: string; [field: string]: number | string | Use }>(
      Named('RegionalQuotasTold', {
        region_id: Type.Integer({ description: 'Region ID', examples: [1] }),
        region_name: Type.String({ description: 'Display name' }),
        ...uses(REGIONAL_QUOTAS),
      }),
    ),
  ),
});
export type Told = Static<typeof Told>;

export const QuotaThreshold = Named('QuotaNotificationThreshold', {
  client_id: Type.Integer({ description: 'Client ID', examples: [1] }),
  threshold,
  last_sending: nullable(Timestamp('When the administrators were last warned by mail')),
  last_message: nullable({ ...Told, description: 'What they were told' }),
});
export type QuotaThreshold = Static<typeof QuotaThreshold>;
export const SetQuotaThreshold = Input(
  'SetQuotaNotificationThreshold',
  { threshold, last_sending: ReadOnly, last_message: ReadOnly },
  { threshold: 95 },
);

export const QuotaClientParams = Type.Object({ client_id: IntegerId('Client ID') });
export const QuotaRegionParams = Type.Object({
  client_id: IntegerId('Client ID'),
  region_id: IntegerId('Region ID'),
});
