import { Type } from 'typebox';
import type { QuotaExceededError } from '../../../lib/errors.ts';

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
