import { sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';

/** What becomes of a mail: the time of the next attempt, or how it ended. */
export type Next = { again: Date } | { ended: 'sent' | 'failed' };

/** Notes an attempt, unless the mail is no longer this worker's. */
export async function noteAttempt(
  tx: Transaction,
  workerId: string,
  { id, attempts }: { id: string; attempts: number },
  { fault, next, now }: { fault: string | null; next: Next; now: Date },
): Promise<void> {
  const ended = 'ended' in next;
  await sql`
    update mails set worker_id = null, state = ${ended ? next.ended : 'pending'}, due_at = ${ended ? null : next.again},
      ended_at = ${ended ? now : null}, fault = ${fault}, data = case when not ${ended} then data end
    where id = ${id} and worker_id = ${workerId} and attempts = ${attempts}`.execute(tx.sql);
}

/** Gives up what could not be sent in time, at most `limit` of it. Returns each with its last fault. */
export async function giveUp(
  db: Sql,
  { now, limit }: { now: Date; limit: number },
): Promise<{ id: string; kind: string; fault: string | null }[]> {
  const { rows } = await sql<{ id: string; kind: string; fault: string | null }>`
    update mails set state = 'failed', due_at = null, ended_at = ${now}, data = null
    where id = any(array(
      select id from mails where state = 'pending' and expires_at <= ${now} and worker_id is null
      order by expires_at limit ${limit}))
    returning id, kind, fault`.execute(db);
  return rows;
}

/** Lets what is due long after the longest wait be sent now: the clock was set back. */
export async function bringBack(db: Sql, { now, latest }: { now: Date; latest: Date }): Promise<void> {
  await sql`update mails set due_at = ${now} where due_at > ${latest} and worker_id is null`.execute(db);
}
