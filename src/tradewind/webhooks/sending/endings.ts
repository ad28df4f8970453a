import { sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';

/** What came of an attempt. Texts may be null. */
export interface Outcome {
  status: number | null;
  fault: string | null;
  answer: string | null;
}

/** Locks how it goes with a webhook. Returns undefined if it was deleted. */
export async function lockSending(tx: Transaction, webhookId: string) {
  return tx.sql
    .selectFrom('webhook_sending')
    .select(['client_id', 'failures', 'failing_since'])
    .where('webhook_id', '=', webhookId)
    .forUpdate()
    .executeTakeFirst();
}

/** What becomes of a delivery: the time of the next attempt, or how it ended. */
export type Next = { again: Date } | { ended: 'delivered' | 'failed' };

export interface Attempt {
  id: number;
  webhook_id: string;
  attempts: number;
}

/** Notes an attempt. Returns false if the delivery is no longer this worker's. */
export async function noteAttempt(
  tx: Transaction,
  workerId: string,
  { id, webhook_id, attempts }: Attempt,
  { outcome, next, now }: { outcome: Outcome; next: Next; now: Date },
): Promise<boolean> {
  const ended = 'ended' in next;
  const { rows } = await sql<{ subject: string; in_line: boolean }>`
    update webhook_deliveries set worker_id = null, state = ${ended ? next.ended : 'pending'},
      due_at = ${ended ? null : next.again}, ended_at = ${ended ? now : null},
      status = ${outcome.status}, fault = ${outcome.fault}, answer = ${outcome.answer}
    where id = ${id} and worker_id = ${workerId} and attempts = ${attempts}
    returning subject, in_line`.execute(tx.sql);
  const [row] = rows;
  if (!row) return false;
  if (ended && row.in_line) await letFollow(tx.sql, [{ webhook_id, subject: row.subject }], now);
  return true;
}

/** Lets the next of each subject be sent, if it waits. */
async function letFollow(db: Sql, lines: readonly { webhook_id: string; subject: string }[], now: Date): Promise<void> {
  await sql`
    update webhook_deliveries as following set due_at = ${now}
    from (
      select distinct webhook_id, subject
      from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as line (webhook_id uuid, subject text)
    ) as line cross join lateral (
      select id from webhook_deliveries as waiting
      where waiting.webhook_id = line.webhook_id and waiting.subject = line.subject and state = 'pending' and in_line
      order by id limit 1
    ) as first
    where following.id = first.id and due_at is null`.execute(db);
}

export async function noteSuccess(tx: Transaction, webhookId: string): Promise<void> {
  await sql`
    update webhook_sending set failures = 0, failing_since = null, next_at = '-infinity'
    where webhook_id = ${webhookId}`.execute(tx.sql);
}

/** Lets what waits for another attempt be sent by then. */
export async function bringForward(tx: Transaction, webhookId: string, by: Date): Promise<void> {
  await sql`
    update webhook_deliveries set due_at = ${by}
    where webhook_id = ${webhookId} and worker_id is null and due_at > ${by}`.execute(tx.sql);
}

/**
 * Notes that an attempt failed, and when to go on; undefined for as soon as something is due. What is no news doesn't bring
 * that forward.
 */
export async function noteFailure(
  tx: Transaction,
  webhookId: string,
  { failures, since, next, isNews }: { failures: number; since: Date; next: Date | undefined; isNews: boolean },
): Promise<void> {
  const before = isNews ? sql`null::timestamptz` : sql`next_at`;
  await sql`
    update webhook_sending set failures = ${failures}, failing_since = ${since},
      next_at = coalesce(greatest(${before}, ${next ?? null}::timestamptz), '-infinity')
    where webhook_id = ${webhookId}`.execute(tx.sql);
}

/** Returns the account of the webhook; undefined if it is disabled already. */
export async function disable(
  tx: Transaction,
  webhookId: string,
  { reason, now }: { reason: 'failing' | 'gone'; now: Date },
): Promise<number | undefined> {
  const row = await tx.sql
    .updateTable('webhooks')
    .set({ enabled: false, disabled_reason: reason, updated_at: now })
    .where('id', '=', webhookId)
    .where('enabled', '=', true)
    .returning('client_id')
    .executeTakeFirst();
  return row?.client_id;
}

/** Whether there may be something for `giveUp` or `bringBack`. */
export const anyLate = ({ now, latest }: { now: Date; latest: Date }) =>
  sql<boolean>`exists (
      select from webhook_deliveries where state = 'pending' and expires_at <= ${now} and worker_id is null)
    or exists (select from webhook_sending where next_at > ${latest})`;

/** Gives up what could not be delivered in time, at most `limit` of it. Returns how much. */
export async function giveUp(tx: Transaction, { now, limit, fault }: { now: Date; limit: number; fault: string }) {
  const { rows: expired } = await sql<{ webhook_id: string }>`
    select distinct webhook_id from (
      select webhook_id from webhook_deliveries
      where state = 'pending' and expires_at <= ${now} and worker_id is null order by expires_at limit ${limit}
    ) as expired`.execute(tx.sql);
  if (expired.length === 0) return 0;
  const { rows: locked } = await sql<{ webhook_id: string }>`
    select webhook_id from webhook_sending where webhook_id = any(${expired.map((one) => one.webhook_id)}::uuid[])
    order by webhook_id for update skip locked`.execute(tx.sql);
  const ids = locked.map(({ webhook_id }) => webhook_id);
  // Those of a webhook that was deleted have nobody who could lock them.
  const { rows } = await sql<{ webhook_id: string; subject: string; in_line: boolean }>`
    update webhook_deliveries set state = 'failed', due_at = null, ended_at = ${now}, fault = coalesce(fault, ${fault})
    where id = any(array(
      select id from webhook_deliveries as delivery
      where state = 'pending' and expires_at <= ${now} and worker_id is null
        and (webhook_id = any(${ids}::uuid[])
          or not exists (select from webhook_sending as sending where sending.webhook_id = delivery.webhook_id))
      order by expires_at limit ${limit}))
    returning webhook_id, subject, in_line`.execute(tx.sql);
  await letFollow(
    tx.sql,
    rows.filter((one) => one.in_line),
    now,
  );
  await sql`
    update webhook_sending set next_at = '-infinity'
    where webhook_id = any(${ids}::uuid[]) and next_at is null`.execute(tx.sql);
  return rows.length;
}

/** Brings back what is due long after the longest wait: the clock was set back. */
export async function bringBack(tx: Transaction, latest: Date): Promise<void> {
  const { rows } = await sql<{ webhook_id: string }>`
    update webhook_sending set next_at = '-infinity' where next_at > ${latest} returning webhook_id`.execute(tx.sql);
  if (rows.length === 0) return;
  await sql`
    update webhook_deliveries set due_at = '-infinity'
    where webhook_id = any(${rows.map((row) => row.webhook_id)}::uuid[]) and worker_id is null and due_at > ${latest}`.execute(
    tx.sql,
  );
}
