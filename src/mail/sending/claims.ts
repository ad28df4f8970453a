import { sql } from 'kysely';
import type { Database, Sql } from '../../db/database.ts';
import type { Clock } from '../../lib/time.ts';
import type { MailKind } from '../kinds.ts';

/** A mail that this worker has claimed, with what it takes to send it. */
export interface Claimed {
  id: string;
  kind: MailKind;
  receiver: string;
  /** Encrypted. */
  data: unknown;
  attempts: number;
  expires_at: Date;
  created_at: Date;
  company: string;
  reseller: string;
}

const isDue = (now: Date) => sql<boolean>`due_at <= ${now} and expires_at > ${now} and worker_id is null`;
export const anyDue = (now: Date) => sql<boolean>`exists (select from mails where ${isDue(now)})`;

/** Claims mails that are due, the oldest first. */
export async function takeDue(
  db: Sql,
  { workerId, now, limit }: { workerId: string; now: Date; limit: number },
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    update mails set worker_id = ${workerId}, attempts = attempts + 1
    from (
      select mails.id, company, resellers.name as reseller
      from mails join clients on clients.id = mails.client_id join resellers on resellers.id = clients.reseller_id
      where ${isDue(now)}
      order by due_at limit ${limit} for update of mails skip locked
    ) as due
    where mails.id = due.id
    returning mails.id, kind, receiver, data, attempts, expires_at, mails.created_at, company, reseller`.execute(db);
  return rows;
}

const KEPT_DAYS = 7;
const BATCH = 1_000;

/** Deletes mails that ended long ago, in batches. Until then they keep others from being sent twice. */
export async function forgetOldMails({ sql: db }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_DAYS * 86_400_000);
  for (let deleted = BATCH; deleted === BATCH; ) {
    const { numAffectedRows } = await sql`
      delete from mails where id = any(array(
        select id from mails where ended_at < ${before} order by ended_at limit ${BATCH}))`.execute(db);
    deleted = Number(numAffectedRows);
  }
}

/** Counting goes on up to here. */
const MOST_COUNTED = 100_000;

/** What is to be mailed, in all processes together. */
export interface MailFigures {
  waiting: number;
  /** Mails whose last attempt failed, and which are tried again. */
  failing: number;
  /** Mails that were given up in the last hour. */
  failed: number;
  /** Age of what has waited longest, in seconds. */
  oldestSeconds: number;
}

/** The conditions are those of partial indexes. */
export async function mailFigures(db: Sql): Promise<MailFigures> {
  const { rows } = await sql<MailFigures>`
    select count(*) as waiting, count(*) filter (where fault is not null) as failing,
      coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestSeconds",
      (select count(*) from mails where ended_at > now() - interval '1 hour' and state = 'failed') as failed
    from (
      select fault, created_at from mails where state = 'pending' order by expires_at limit ${MOST_COUNTED}
    ) as pending`.execute(db);
  return rows[0] ?? { waiting: 0, failing: 0, failed: 0, oldestSeconds: 0 };
}
