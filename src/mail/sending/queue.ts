import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, Sql, Transaction } from '../../db/database.ts';
import { waitAfter } from '../../lib/loop.ts';
import type { Clock } from '../../lib/time.ts';
import type { Secrets } from '../../secrets/secrets.ts';
import type { Queue } from '../../worker/worker.ts';
import { MAILS, type MailData, type MailKind, SENT_WITHIN_MS } from '../kinds.ts';
import type { Claimed } from './claims.ts';
import * as claims from './claims.ts';
import { type Letterhead, messageOf } from './message.ts';
import type { Outlet } from './outlets.ts';
import { faultOf, isFinal } from './refusals.ts';

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

const WAITS = { firstMs: 10_000, longestMs: 3_600_000 };

export interface Sender {
  workerId: string;
  database: Database;
  clock: Clock;
  secrets: Secrets;
  outlet: Outlet;
  letterhead: Letterhead;
  log: Logger;
  random?: () => number;
}

/** Sends a mail once, and notes what came of it. */
export async function attemptMail(sender: Sender, claimed: Claimed): Promise<void> {
  const { workerId, database, clock, log, random = Math.random } = sender;
  const { id, kind, attempts } = claimed;
  const failure = await send(sender, claimed);
  const now = clock.now();
  const again = new Date(now.getTime() + waitAfter(attempts, WAITS, random));
  const lost = failure?.final === true || again >= claimed.expires_at;
  const next: Next = failure && !lost ? { again } : { ended: failure ? 'failed' : 'sent' };
  if (failure) {
    const told = { mail: id, kind, attempts, fault: failure.fault };
    if (lost) log.warn(told, 'A mail is given up');
    else log[attempts === 1 ? 'warn' : 'debug'](told, 'A mail could not be sent; it is tried again');
  }
  await database.transaction((tx) =>
    noteAttempt(tx, workerId, claimed, { fault: failure?.fault ?? null, next, now }),
  );
}

async function send({ secrets, outlet, letterhead }: Sender, claimed: Claimed) {
  try {
    const data = await secrets.open<MailData[MailKind]>('mails.data', [claimed.id], claimed.data);
    await outlet.send(claimed, messageOf(letterhead, claimed, data));
    return undefined;
  } catch (error) {
    return { fault: faultOf(error), final: isFinal(error) };
  }
}

/** Mails that a process sends at a time. */
const HERE = 8;
const GIVE_UP_BATCH = 100;

/** The queue of mails: each sent by one worker at a time. */
export function mailQueue(sender: Sender): Queue {
  const { database, workerId, clock, log } = sender;
  return {
    name: 'mails',
    topic: MAILS,
    async take(inHand, begin) {
      const limit = HERE - inHand.size;
      if (limit <= 0) return false;
      const taken = await claims.takeDue(database.sql, { workerId, now: clock.now(), limit });
      for (const claimed of taken) {
        // An attempt that has begun is ended: nobody knows what the server has taken.
        begin({ key: claimed.id, state: claimed.attempts, work: () => attemptMail(sender, claimed) });
      }
      return taken.length > 0;
    },
    claimed: () => claims.claimedBy(database.sql, workerId),
    giveBack: (ids) => claims.giveBack(database.sql, workerId, ids),
    takeFromDead: () => claims.takeFromDead(database.sql),
    async sweep() {
      const now = clock.now();
      await bringBack(database.sql, { now, latest: new Date(now.getTime() + SENT_WITHIN_MS) });
      for (const { id, kind, fault } of await giveUp(database.sql, { now, limit: GIVE_UP_BATCH }))
        log.warn({ mail: id, kind, fault }, 'A mail is given up');
    },
  };
}
