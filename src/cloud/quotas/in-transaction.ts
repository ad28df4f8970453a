import { sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import { QuotaExceededError } from '../../lib/errors.ts';
import type { QuotaLimits, Region } from '../catalog/service.ts';

type QuotaAttribute = keyof QuotaLimits;

/** How much of each quota something takes. */
export type QuotaAmounts = Partial<Record<QuotaAttribute, number>>;

/** Whose quotas something counts against: those of an account in a region. */
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
  // Given back by somebody between the two statements.
  await takeQuota(tx, owner, attribute, amount);
}

/** `takeQuota` of several, in one order for everybody. @throws QuotaExceededError */
export async function takeQuotas(tx: Transaction, owner: LimitedOwner, amounts: QuotaAmounts): Promise<void> {
  for (const [attribute, amount] of inOrder(amounts)) await takeQuota(tx, owner, attribute, amount);
}

/** What would go beyond its limit. Nothing is locked, so that it may be out of date at once. */
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

/** Spares the work that `takeQuotas` at its end would undo. @throws QuotaExceededError */
export async function refuseExceeded(
  tx: Transaction,
  owner: LimitedOwner,
  amounts: QuotaAmounts,
): Promise<void> {
  const [first] = await exceededQuotas(tx.sql, owner, amounts);
  if (first) throw new QuotaExceededError(first);
}

/** Takes quotas even beyond their limits, for what soon gives back as much. */
export async function overdrawQuotas(
  tx: Transaction,
  owner: LimitedOwner,
  amounts: QuotaAmounts,
): Promise<void> {
  const taken = inOrder(amounts).map(([name, amount]) => [name, -amount]);
  await releaseQuotas(tx, owner, Object.fromEntries(taken));
}

/** Gives back what `takeQuota` took, when the thing is gone or was never made. */
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

/** `releaseQuota` of several, in the order of `takeQuotas`. */
export async function releaseQuotas(
  tx: Transaction,
  owner: QuotaOwner,
  amounts: QuotaAmounts,
): Promise<void> {
  for (const [attribute, amount] of inOrder(amounts)) await releaseQuota(tx, owner, attribute, amount);
}

/** Those that are asked for, in the order in which everybody locks them. */
function inOrder(amounts: QuotaAmounts): [QuotaAttribute, number][] {
  const attributes = (Object.keys(amounts) as QuotaAttribute[]).sort();
  return attributes.flatMap((attribute): [QuotaAttribute, number][] => {
    const amount = amounts[attribute] ?? 0;
    return amount === 0 ? [] : [[attribute, amount]];
  });
}
