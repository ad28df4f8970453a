import { sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import { QuotaExceededError } from '../../lib/errors.ts';
import type { QuotaLimits, Region } from '../catalog/service.ts';

type QuotaAttribute = keyof QuotaLimits;

/** How much of each quota something takes. */
export type QuotaAmounts = Partial<Record<QuotaAttribute, number>>;

/** The account and region whose quotas are used. */
export interface QuotaOwner {
  clientId: number;
  regionId: number;
}
interface LimitedOwner extends QuotaOwner {
  region: Pick<Region, 'quotas'>;
}

export function quotaOwner({ clientId, regionId }: QuotaOwner): QuotaOwner {
  return { clientId, regionId };
}

/**
 * Takes `amount` of a quota. The row stays locked until the transaction ends, which makes the count exact:
 * call it as late in the transaction as possible.
 * @throws QuotaExceededError with the numbers
 */
export async function takeQuota(
  tx: Transaction,
  owner: LimitedOwner,
  attribute: QuotaAttribute,
  amount = 1,
): Promise<void> {
  const limit = owner.region.quotas[attribute];
  if (amount <= limit) {
    const { numInsertedOrUpdatedRows } = await tx.sql
      .insertInto('quota_usage')
      .values({ client_id: owner.clientId, region_id: owner.regionId, attribute, used: amount })
      .onConflict((conflict) =>
        conflict
          .columns(['client_id', 'region_id', 'attribute'])
          .doUpdateSet({ used: sql`quota_usage.used + excluded.used` })
          .where(sql<boolean>`quota_usage.used + excluded.used <= ${limit}`),
      )
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 1n) return;
  }
  await refuseExceeded(tx, owner, { [attribute]: amount });
  // Another transaction released quota between the two statements, so try again.
  await takeQuota(tx, owner, attribute, amount);
}

/** Calls `takeQuota` for several quotas, always in the same order. @throws QuotaExceededError */
export async function takeQuotas(tx: Transaction, owner: LimitedOwner, amounts: QuotaAmounts): Promise<void> {
  for (const [attribute, amount] of inOrder(amounts)) await takeQuota(tx, owner, attribute, amount);
}

/** Returns the quotas that would be exceeded. Locks nothing, so the result may be outdated at once. */
export async function exceededQuotas(
  db: Sql,
  owner: LimitedOwner,
  amounts: QuotaAmounts,
): Promise<QuotaExceededError['info'][]> {
  const asked = inOrder(amounts);
  if (asked.length === 0) return [];
  const rows = await db
    .selectFrom('quota_usage')
    .select(['attribute', 'used'])
    .where('client_id', '=', owner.clientId)
    .where('region_id', '=', owner.regionId)
    .execute();
  const used = new Map(rows.map((row) => [row.attribute, row.used]));
  return asked
    .map(([attribute, requested]) => ({
      attribute,
      current_usage: used.get(attribute) ?? 0,
      requested_usage: requested,
      limit: owner.region.quotas[attribute],
    }))
    .filter(({ current_usage, requested_usage, limit }) => current_usage + requested_usage > limit);
}

/** Refuses early what `takeQuotas` would refuse at the end of the transaction anyway. @throws QuotaExceededError */
export async function refuseExceeded(
  tx: Transaction,
  owner: LimitedOwner,
  amounts: QuotaAmounts,
): Promise<void> {
  const [first] = await exceededQuotas(tx.sql, owner, amounts);
  if (first) throw new QuotaExceededError(first);
}

/** Takes quotas even beyond their limits, for a caller that soon releases as much. */
export async function overdrawQuotas(
  tx: Transaction,
  owner: LimitedOwner,
  amounts: QuotaAmounts,
): Promise<void> {
  const taken = inOrder(amounts).map(([name, amount]) => [name, -amount]);
  await releaseQuotas(tx, owner, Object.fromEntries(taken));
}

/** Gives back what `takeQuota` took, when the resource is deleted or was never created. */
export async function releaseQuota(
  tx: Transaction,
  owner: QuotaOwner,
  attribute: QuotaAttribute,
  amount = 1,
): Promise<void> {
  await tx.sql
    .updateTable('quota_usage')
    .set({ used: sql`used - ${amount}` })
    .where('client_id', '=', owner.clientId)
    .where('region_id', '=', owner.regionId)
    .where('attribute', '=', attribute)
    .execute();
}

/** Calls `releaseQuota` for several quotas, in the order of `takeQuotas`. */
export async function releaseQuotas(
  tx: Transaction,
  owner: QuotaOwner,
  amounts: QuotaAmounts,
): Promise<void> {
  for (const [attribute, amount] of inOrder(amounts)) await releaseQuota(tx, owner, attribute, amount);
}

/** Returns the quotas whose amount is not 0, in the order in which every transaction locks them. */
function inOrder(amounts: QuotaAmounts): [QuotaAttribute, number][] {
  const attributes = (Object.keys(amounts) as QuotaAttribute[]).sort();
  return attributes.flatMap((attribute): [QuotaAttribute, number][] => {
    const amount = amounts[attribute] ?? 0;
    return amount === 0 ? [] : [[attribute, amount]];
  });
}
