import { type RawBuilder, sql } from 'kysely';
import type { Database, Sql, Transaction } from '../../../db/database.ts';
import { WORKER_IS_DEAD } from '../../../worker/heartbeat.ts';
import { FAILING_FROM, MAY_STILL_SEE } from './fan-out-store.ts';

const CLAIM_LOCK = 0x7477_7768; // "twwh"
/** Webhooks that are looked at together. */
const BATCH = 100;

/** A delivery that this worker has claimed, with what it takes to send it. */
export interface Claimed {
  id: number;
  webhook_id: string;
  client_id: number;
  event_id: string;
  body: string;
  attempts: number;
  expires_at: Date;
  /** Whether the webhook was failing before. */
  failing: boolean;
  url: string;
  /** Encrypted. */
  secret: string | null;
  previous_secret: string | null;
  previous_until: Date | null;
}

/** How many may be sent at a time: of an account and of a webhook in all processes, and here. */
export interface Room {
  ofAccount: number;
  ofWebhook: number;
  here: number;
  /** For webhooks that are failing. */
  hereFailing: number;
}

interface Due {
  webhook_id: string;
  client_id: number;
  failing: boolean;
  enabled: boolean;
}

export const anyDue = (now: Date): RawBuilder<boolean> =>
  sql`exists (select from webhook_sending where next_at <= ${now})`;

/**
 * Claims what is due. Webhooks take turns, and those that are failing come last. Only one worker at a time claims, so that
 * the limits hold.
 */
export async function takeDue(
  database: Database,
  { workerId, now, room }: { workerId: string; now: Date; room: Room },
): Promise<Claimed[]> {
  return database.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(tx.sql);
    const busy = await busyNow(tx);
    const due = await dueWebhooks(tx, now, busy.fullAccounts(room.ofAccount));
    const shares = sharesOf(due, busy, room);
    if (shares.length === 0) return [];
    const claimed = await claim(tx, workerId, now, shares);
    await noteTaken(tx, shares, claimed);
    return claimed;
  });
}

/** Counts what is being sent. */
async function busyNow(tx: Transaction) {
  const { rows } = await sql<{ webhook_id: string; client_id: number; count: number }>`
    select webhook_id, client_id, count(*) as count from webhook_deliveries where worker_id is not null
    group by webhook_id, client_id`.execute(tx.sql);
  const webhooks = new Map(rows.map(({ webhook_id, count }) => [webhook_id, count]));
  const accounts = new Map<number, number>();
  for (const { client_id, count } of rows) accounts.set(client_id, (accounts.get(client_id) ?? 0) + count);
  return {
    webhooks,
    accounts,
    fullAccounts: (most: number) => [...accounts].flatMap(([id, count]) => (count >= most ? [id] : [])),
  };
}

async function dueWebhooks(tx: Transaction, now: Date, except: readonly number[]): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select webhook_id, sending.client_id, failures >= ${FAILING_FROM} as failing, enabled
    from webhook_sending as sending join webhooks on webhooks.id = webhook_id
      join clients on clients.id = sending.client_id
    where next_at <= ${now} and sending.client_id <> all(${[...except]}::bigint[])
      and clients.deleted_at is null and clients.status <> 'paused' and ${MAY_STILL_SEE}
    order by failures >= ${FAILING_FROM}, taken_at limit ${BATCH} for update of sending skip locked`.execute(tx.sql);
  return rows;
}

interface Share extends Due {
  room: number;
}

function sharesOf(due: readonly Due[], busy: Awaited<ReturnType<typeof busyNow>>, room: Room): Share[] {
  let { here, hereFailing } = room;
  const shares: Share[] = [];
  for (const one of due) {
    const ofAccount = busy.accounts.get(one.client_id) ?? 0;
    const most = one.failing ? 1 : room.ofWebhook;
    const free = most - (busy.webhooks.get(one.webhook_id) ?? 0);
    const left = Math.min(room.ofAccount - ofAccount, one.failing ? Math.min(here, hereFailing) : here);
    // Its turn comes later, unless it is busy itself: then it is looked at when that has ended.
    if (left <= 0 && free > 0) continue;
    const share = Math.max(0, Math.min(free, left));
    shares.push({ ...one, room: share });
    busy.accounts.set(one.client_id, ofAccount + share);
    here -= share;
    if (one.failing) hereFailing -= share;
  }
  return shares;
}

async function claim(tx: Transaction, workerId: string, now: Date, shares: readonly Share[]): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with share as (
      select * from jsonb_to_recordset(${JSON.stringify(shares)}::jsonb)
        as share (webhook_id uuid, room integer, enabled boolean, failing boolean)
    ), chosen as materialized (
      select chosen.id, failing from share cross join lateral (
        select id from webhook_deliveries as delivery
        where delivery.webhook_id = share.webhook_id and worker_id is null and due_at <= ${now}
          and (share.enabled or not in_line)
        order by due_at, id limit share.room
      ) as chosen
    )
    update webhook_deliveries as delivery
    set worker_id = ${workerId}, attempts = attempts + 1, attempted_at = ${now}
    from chosen, webhooks where delivery.id = chosen.id and webhooks.id = delivery.webhook_id
    returning delivery.id, delivery.webhook_id, delivery.client_id, event_id, body, attempts, expires_at, failing, url,
      secret, previous_secret, previous_until`.execute(tx.sql);
  return rows;
}

/** Notes when to look at these webhooks again. Those with as much in hand as they may have are looked at when it ends. */
async function noteTaken(tx: Transaction, shares: readonly Share[], claimed: readonly Claimed[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { webhook_id } of claimed) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
  const taken = shares.map((share) => ({
    ...share,
    full: (counts.get(share.webhook_id) ?? 0) === share.room,
  }));
  await sql`
    update webhook_sending as sending set taken_at = clock_timestamp(), next_at = case when not taken."full" then (
      select min(due_at) from webhook_deliveries as delivery
      where delivery.webhook_id = sending.webhook_id and worker_id is null and due_at is not null
        and (taken.enabled or not in_line)
    ) end
    from jsonb_to_recordset(${JSON.stringify(taken)}::jsonb)
      as taken (webhook_id uuid, enabled boolean, "full" boolean)
    where sending.webhook_id = taken.webhook_id`.execute(tx.sql);
}

/** Returns what the database counts as this worker's: attempts by ID. */
export async function claimedBy(db: Sql, workerId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select(['id', 'attempts'])
    .where('worker_id', '=', workerId)
    .execute();
  return new Map(rows.map(({ id, attempts }) => [String(id), attempts]));
}

/** Releases some claims, by ID. */
export async function giveBack(db: Sql, workerId: string, ids: readonly string[]): Promise<void> {
  await released(db, sql`worker_id = ${workerId} and id = any(${[...ids]}::bigint[])`);
}

/** Releases the claims of dead workers. Returns how many there were. */
export async function takeFromDead(db: Sql): Promise<number> {
  return released(db, sql`worker_id is not null and ${WORKER_IS_DEAD}`);
}

async function released(db: Sql, which: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with freed as (
      update webhook_deliveries set worker_id = null where ${which} returning webhook_id
    ), looked_at as (
      update webhook_sending set next_at = '-infinity' where webhook_id in (select webhook_id from freed)
    )
    select count(*) as count from freed`.execute(db);
  return rows[0]?.count ?? 0;
}
