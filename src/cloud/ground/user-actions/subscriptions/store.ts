import { type Insertable, type Selectable, sql } from 'kysely';
import type { Sql, Transaction } from '../../../../db/database.ts';
import { pageWithCount } from '../../../../db/page.ts';
import type { Tables } from '../../../../db/tables.ts';
import type { Page, PageQuery } from '../../../../lib/page.ts';
import type { Secrets } from '../../../../secrets/secrets.ts';

export type SubscriptionRow = Selectable<Tables['user_action_subscriptions']>;

const HEADER = 'user_action_subscriptions.auth_header_value';

export async function insertSubscription(
  tx: Transaction,
  secrets: Secrets,
  row: Omit<Insertable<Tables['user_action_subscriptions']>, 'id'>,
): Promise<void> {
  await tx.sql
    .insertInto('user_action_subscriptions')
    .values({ ...row, auth_header_value: secrets.seal(HEADER, [row.client_id], row.auth_header_value) })
    .execute();
}

export async function deleteSubscription(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('user_action_subscriptions').where('client_id', '=', clientId).execute();
}

export async function listSubscriptions(
  db: Sql,
  secrets: Secrets,
  clientId: number,
  page: PageQuery,
): Promise<Page<SubscriptionRow>> {
  const own = db.selectFrom('user_action_subscriptions').selectAll().where('client_id', '=', clientId);
  const { count, rows } = await pageWithCount(own.orderBy('id'), page);
  return { count, rows: await Promise.all(rows.map((row) => opened(secrets, row))) };
}

/**
 * Leases subscriptions to this process until `leasedUntil`: those with something to send, and those whose past was not
 * looked at for long. Their headers stay encrypted: one that can't be read must not hold up the others.
 */
export async function takeDue(
  db: Sql,
  { now, leasedUntil, stale, limit }: { now: Date; leasedUntil: Date; stale: Date; limit: number },
): Promise<SubscriptionRow[]> {
  const { rows } = await sql<SubscriptionRow>`
    update user_action_subscriptions set due_at = ${leasedUntil} where id = any(array(
      select id from user_action_subscriptions as due
      where due_at <= ${now} and (sent_until < ${stale} or exists (
        select from user_actions as action
        where action.client_id = due.client_id and action.api_group is not null and not action.acknowledged
          and action."timestamp" >= due.sent_until))
      order by due_at limit ${limit} for update skip locked))
    returning *`.execute(db);
  return rows;
}

/** With the header that it is sent with. */
export async function opened(secrets: Secrets, row: SubscriptionRow): Promise<SubscriptionRow> {
  return {
    ...row,
    auth_header_value: await secrets.open(HEADER, [row.client_id], row.auth_header_value),
  };
}

/** Returns what a subscription still has to send, oldest first. */
export async function unsentActions(db: Sql, { client_id, sent_until }: SubscriptionRow, limit: number) {
  return db
    .selectFrom('user_actions')
    .selectAll()
    .where('client_id', '=', client_id)
    .where('api_group', 'is not', null)
    .where('acknowledged', '=', false)
    .where('timestamp', '>=', sent_until)
    .orderBy('timestamp')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Records what was sent and when to look again. Skips a subscription that another process has leased meanwhile. */
export async function settle(
  tx: Transaction,
  { id, due_at }: SubscriptionRow,
  sentIds: number[],
  next: Pick<SubscriptionRow, 'due_at' | 'sent_until' | 'failures'>,
): Promise<void> {
  if (sentIds.length > 0) {
    await tx.sql.updateTable('user_actions').set({ acknowledged: true }).where('id', 'in', sentIds).execute();
  }
  await tx.sql
    .updateTable('user_action_subscriptions')
    .set(next)
    .where('id', '=', id)
    .where('due_at', '=', due_at)
    .execute();
}
