import { sql } from 'kysely';
import type { Database, Sql, Transaction } from '../../db/database.ts';
import { type EventRow, readBetween } from './store.ts';
import { createTail } from './tail.ts';

/**
 * Reads every event once and in order, whichever processes die. The place is in the database, and moves in the
 * transaction of what is done with the events. Any number of processes may read in turns. Events are kept for a reader
 * that is behind, for longer than for others.
 */
export interface EventReader {
  /**
   * Does `work` with the next events. Returns how many there were: none also if there is nothing new, or if another
   * process is reading.
   */
  next(work: (tx: Transaction, events: EventRow[]) => Promise<void>): Promise<number>;
  /** Resolves at the next event, and after a while without one. */
  news(): Promise<void>;
  /**
   * Says after which position somebody wants what it reads; undefined if nobody does. Then the database is not asked, and
   * nothing is kept.
   */
  want(from: number | undefined): Promise<void>;
  stop(): void;
}

const PAGE = 200;

export function createEventReader(
  database: Pick<Database, 'sql' | 'transaction'>,
  name: string,
): EventReader {
  const tail = createTail(database);
  let leave: (() => void) | undefined;
  return {
    async next(work) {
      if (!leave) return 0;
      const upTo = tail.settled();
      return database.transaction(async (tx) => {
        const place = await placeOf(tx, name);
        if (!place) return 0;
        if (!place.active) {
          // Another process has stopped it. If it was wrong, since somebody wants it by now, `want` begins again.
          leave?.();
          leave = undefined;
          return 0;
        }
        const { position: after } = place;
        if (after >= upTo) return 0;
        const events = await readBetween(tx.sql, { after, upTo, limit: PAGE });
        if (events.length > 0) await work(tx, events);
        await moveTo(tx, name, events.length < PAGE ? upTo : (events.at(-1)?.position ?? upTo));
        return events.length;
      });
    },
    news: () => tail.news(),
    async want(from) {
      if (from === undefined) {
        if (leave) await stopReading(database.sql, name);
        leave?.();
        leave = undefined;
        return;
      }
      if (leave) return;
      await database.transaction((tx) => startReading(tx, name, from));
      leave = tail.enter();
      // So that what has happened is read at once. If a transaction takes long, it is read later.
      await tail.ready().catch(() => {});
    },
    stop: () => tail.stop(),
  };
}

/**
 * Keeps events after that position for this reader, unless it has read them. One that reads already is not waited for:
 * if it stops just now, it begins again when it sees who wants it.
 */
export async function startReading(tx: Transaction, name: string, from: number): Promise<void> {
  await sql`
    insert into event_readers (name, position, active) select ${name}, ${from}::bigint, true
    where not exists (select from event_readers where name = ${name} and active)
    on conflict (name) do update set active = true, position = case
      when event_readers.active then event_readers.position
      else greatest(event_readers.position, excluded.position) end`.execute(tx.sql);
}

async function stopReading(db: Sql, name: string): Promise<void> {
  await db.updateTable('event_readers').set({ active: false }).where('name', '=', name).execute();
}

/** Returns undefined while another process has it. */
async function placeOf(
  tx: Transaction,
  name: string,
): Promise<{ position: number; active: boolean } | undefined> {
  return tx.sql
    .selectFrom('event_readers')
    .select(['position', 'active'])
    .where('name', '=', name)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

async function moveTo(tx: Transaction, name: string, position: number): Promise<void> {
  await tx.sql.updateTable('event_readers').set({ position }).where('name', '=', name).execute();
}

/** Returns the position of what happened last: everything from now on has a larger one. */
export async function presentPosition(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select last_value as position from events_position`.execute(tx.sql);
  return rows[0]?.position ?? 0;
}
