import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { QuotaExceededError } from '../../lib/errors.ts';
import type { QuotaLimits, Region } from '../catalog/catalog.ts';

type QuotaAttribute = keyof QuotaLimits;

interface Place {
  clientId: number;
  region: Pick<Region, 'id' | 'quotas'>;
}

/**
 * Takes `amount` of a quota. The row stays locked until the transaction ends, which makes the count exact:
 * call it as late in the transaction as possible.
 * @throws QuotaExceededError with the numbers
 */
export async function takeQuota(
  tx: Transaction,
  place: Place,
  attribute: QuotaAttribute,
  amount = 1,
): Promise<void> {
  const limit = place.region.quotas[attribute];
  const { numInsertedOrUpdatedRows } = await tx.sql
    .insertInto('quota_usage')
    .values({ client_id: place.clientId, region_id: place.region.id, attribute, used: amount })
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'region_id', 'attribute'])
        .doUpdateSet({ used: sql`quota_usage.used + excluded.used` })
        .where(sql<boolean>`quota_usage.used + excluded.used <= ${limit}`),
    )
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 1n && amount <= limit) return;
  const { used } = await tx.sql
    .selectFrom('quota_usage')
    .select('used')
    .where('client_id', '=', place.clientId)
    .where('region_id', '=', place.region.id)
    .where('attribute', '=', attribute)
    .executeTakeFirstOrThrow();
  throw new QuotaExceededError({ attribute, current_usage: used, requested_usage: amount, limit });
}

/** Gives back what `takeQuota` took, when the thing is gone or was never made. */
export async function releaseQuota(
  tx: Transaction,
  place: { clientId: number; regionId: number },
  attribute: QuotaAttribute,
  amount = 1,
): Promise<void> {
  await tx.sql
    .updateTable('quota_usage')
    .set({ used: sql`used - ${amount}` })
    .where('client_id', '=', place.clientId)
    .where('region_id', '=', place.regionId)
    .where('attribute', '=', attribute)
    .execute();
}
