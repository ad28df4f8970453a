import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { announce, type ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import { beginTasks, type Claim, claimedBy, giveBack, takeDue, takeFromDead } from './claims.ts';
import { finishReady, readyTasks } from './endings.ts';
import { expire } from './failures.ts';
import { BEAT_MS, beat, DEAD_AFTER_MS, forget, forgetOthers } from './heartbeat.ts';
import { loop } from './loop.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { type Pursuit, pursue } from './pursuit.ts';
import type { Endings } from './waiting-tasks.ts';
import { keyOf, WANTED } from './wants.ts';

/** How long news may be missed. Wants are announced, so that nothing waits for this. */
const LOOK_MS = 500;
const SWEEP_MS = 1_000;
const COMPARE_MS = 3_000;
const BATCH = 200;
/** In hand, most of them waiting for their infrastructure. */
const MOST_IN_HAND = 500;
/** Calls of backends at a time. */
const MOST_CALLS = 32;
const LONGEST_CALL_MS = 60_000;

export interface WorkerOptions extends Omit<Endings, 'kinds'> {
  kinds: readonly (Endings['kinds'] extends ReadonlyMap<string, infer Kind> ? Kind : never)[];
  /** Opened for writes that may be repeated. */
  claims: Database;
  changes: ChangeFeed;
  backendOf: Pursuit['backendOf'];
  /** A backend that gives no answer for so long is taken to be away. */
  longestCallMs?: number;
  /** No other worker can be alive (embedded database): all that others have in hand is taken over at once. */
  takeOverAllAtStart?: boolean;
}

export interface Worker {
  /** Lets calls at work end, at most `graceMs`, and gives the rest back: another process takes it at once. */
  stop(graceMs: number): Promise<void>;
  /** Whether the database knows that it lives. */
  healthy(): boolean;
}

/** Starts to bring about what is wanted. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { database, claims, changes, log, clock, longestCallMs = LONGEST_CALL_MS } = options;
  const workerId = randomUUID();
  const kinds = new Map(options.kinds.map((kind) => [kind.type, kind]));
  const limit = pLimit(MOST_CALLS);
  const pursuit: Pursuit = { ...options, kinds, workerId, limit, longestCallMs };
  const inHand = new Map<string, { generation: number; stop: AbortController; done: Promise<void> }>();
  const stopping = new AbortController();

  await beat(claims, workerId);
  if (options.takeOverAllAtStart) await forgetOthers(claims, workerId);

  const look = oneAtATime(async () => {
    while (!stopping.signal.aborted && inHand.size < MOST_IN_HAND) {
      const room = Math.min(BATCH, MOST_IN_HAND - inHand.size);
      const taken = await takeDue(claims.sql, workerId, room);
      if (taken.length === 0) return;
      for (const claim of taken) begin(claim);
      await beginTasks(claims.sql, taken, clock.now());
    }
  });
  const lookNow = () => {
    look().catch((error: unknown) => log.debug({ err: error }, 'taking up wants failed'));
  };

  function begin(claim: Claim): void {
    const stop = new AbortController();
    const done = pursue(pursuit, claim, stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted)
          log.error({ err: error, want: keyOf(claim) }, 'a want was dropped, and is found again');
      })
      .finally(() => {
        inHand.delete(keyOf(claim));
        if (!stopping.signal.aborted) lookNow();
      });
    inHand.set(keyOf(claim), { generation: claim.generation, stop, done });
  }

  /**
   * Gives back what the database counts as this worker's without its knowing: an answer was lost. A call for what is
   * wanted no more, which may hang, is ended.
   */
  async function compare(): Promise<void> {
    const known = new Set(inHand.keys());
    const claimed = await claimedBy(claims.sql, workerId);
    const lost = [...claimed.keys()].filter((key) => !known.has(key) && !inHand.has(key));
    for (const [key, { generation, stop }] of inHand) {
      if ((claimed.get(key) ?? generation) > generation) stop.abort(new Error('Something else is wanted'));
    }
    if (lost.length > 0) await giveBack(claims.sql, workerId, lost);
  }

  /** One that fails must not keep the others from their end. */
  const tried = (ending: Promise<unknown>) =>
    ending.catch((error: unknown) => log.warn({ err: error }, 'a task could not be ended, trying again'));

  async function expireOverdue(): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      select id from tasks where state in ('NEW', 'RUNNING') and deadline_at <= ${clock.now()} and input is not null
      order by deadline_at limit ${BATCH}`.execute(database.sql);
    for (const { id } of rows) await tried(expire(pursuit, id));
  }

  changes.on(WANTED, lookNow, lookNow);
  let lastBeat = performance.now();
  let lastCompare = performance.now();
  const loops = [
    loop('heartbeat', BEAT_MS, log, async () => {
      await beat(claims, workerId);
      lastBeat = performance.now();
    }),
    loop('looking for wants', LOOK_MS, log, look),
    loop('sweep', SWEEP_MS, log, async () => {
      const taken = await takeFromDead(claims.sql);
      if (taken > 0) log.warn({ wants: taken }, 'took over from dead workers');
      await expireOverdue();
      for (const id of await readyTasks(database, BATCH)) await tried(finishReady(pursuit, id));
      if (performance.now() - lastCompare < COMPARE_MS) return;
      lastCompare = performance.now();
      await look.after(compare);
    }),
  ];
  return {
    healthy: () => !stopping.signal.aborted && performance.now() - lastBeat < DEAD_AFTER_MS,
    async stop(graceMs) {
      stopping.abort();
      await Promise.all(loops.map((each) => each.stop()));
      await look().catch(() => {});
      const working = [...inHand.values()];
      for (const { stop } of working) stop.abort(new Error('The process stops'));
      const late = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([Promise.all(working.map(({ done }) => done)), late]);
      try {
        await giveBack(database.sql, workerId);
        await forget(database, workerId);
        await database.transaction((tx) => announce(tx.client, WANTED, ''));
      } catch (error) {
        log.warn({ err: error }, 'what was in hand could not be given back; it is taken over later');
      }
    },
  };
}
