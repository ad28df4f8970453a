import { sql } from 'kysely';
import { holds, type Transaction } from '../../../db/database.ts';
import { loop } from '../../../lib/loop.ts';
import type { Platform } from '../../../platform.ts';
import { USAGE_CLOSED } from '../../../requests/event-types.ts';
import { eventData, writingEvents } from '../../../requests/events.ts';
import { DAY_MS } from './period.ts';
import { isAllTrafficKnown } from './store.ts';

/*
 * Tells billing systems that nothing changes any more in what was used on a day: one event for each account that has a webhook
 * for it, whose reader sees its own usage or, as a reseller or the platform, that of all its clients.
 */

const LOOK_MS = 5_000;
const BATCH = 100;
/** After the end of a day. Every transaction that began on it has ended then. */
const GRACE_MS = 15 * 60_000;

/** Begins to look for days that are over. `mayWork` says whether the clock can be trusted. */
export function startClosingDays(on: Platform, mayWork: () => boolean): { stop(): Promise<void> } {
  let stopped = false;
  const looking = loop('closing the usage of days', LOOK_MS, on.log, async () => {
    while (!stopped && mayWork() && (await on.database.transaction(step)));
  });
  return {
    async stop() {
      stopped = true;
      await looking.stop();
    },
  };
}

/** Returns the day in UTC, such as 2026-03-01. */
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Tells the next accounts of a day. Returns false if there is nothing to do, or another worker does it. */
async function step(tx: Transaction): Promise<boolean> {
  const last = dayOf(tx.now.getTime() - GRACE_MS - DAY_MS);
  const { rows } = await sql<{ day: string; next_id: number | null }>`
    select day, next_id from usage_closings where next_id is not null or day < ${last} for update skip locked`.execute(
    tx.sql,
  );
  const [known] = rows;
  if (!known) return begin(tx, last);
  // Days on which nothing ran are told as well, one after the other.
  const { day, next_id: first } =
    known.next_id === null ? { day: dayOf(Date.parse(known.day) + DAY_MS), next_id: 0 } : known;
  if (known.next_id === null && !(await isKnown(tx, day))) return false;
  const accounts = await accountsToTell(tx, first ?? 0);
  if (accounts.length > 0) await tell(tx, day, accounts);
  const next_id = accounts.length < BATCH ? null : (accounts.at(-1) ?? 0) + 1;
  await tx.sql.updateTable('usage_closings').set({ day, next_id }).execute();
  return true;
}

/** Earlier days than the last before the first look are told to nobody. */
async function begin(tx: Transaction, day: string): Promise<false> {
  await sql`insert into usage_closings (day) select ${day} where not exists (select from usage_closings)
    on conflict do nothing`.execute(tx.sql);
  return false;
}

async function isKnown(tx: Transaction, day: string): Promise<boolean> {
  const end = sql`${new Date(Date.parse(day) + DAY_MS)}::timestamptz`;
  return holds(tx.sql, isAllTrafficKnown(end, tx.now));
}

async function accountsToTell(tx: Transaction, first: number): Promise<number[]> {
  const { rows } = await sql<{ client_id: number }>`
    select distinct client_id from webhooks
    where enabled and client_id >= ${first} and exists (
      select from unnest(types) as type
      where type = ${USAGE_CLOSED} or (right(type, 1) = '*' and starts_with(${USAGE_CLOSED}, left(type, -1))))
    order by client_id limit ${BATCH}`.execute(tx.sql);
  return rows.map(({ client_id }) => client_id);
}

async function tell(tx: Transaction, day: string, accounts: readonly number[]): Promise<void> {
  const [from, to] = [day, dayOf(Date.parse(day) + DAY_MS)].map((one) => `${one}T00:00:00Z`);
  const href = `/tradewind/v1/usage?from=${from}&to=${to}`;
  await writingEvents(
    accounts.map((client_id) => ({
      type: USAGE_CLOSED,
      subject: `usage/${day}`,
      client_id,
      project_id: null,
      revised: `usage_closings:${day}`,
      data: JSON.stringify(eventData({ client_id, resources: [{ type: 'usage', id: day, name: null }], href })),
    })),
  ).execute(tx.sql);
}
