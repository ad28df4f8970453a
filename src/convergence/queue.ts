import { sql } from 'kysely';
import type { Queue } from '../worker/worker.ts';
import { beginTasks, claimedBy, giveBack, takeDue, takeFromDead } from './claims.ts';
import { finishReady, readyTasks } from './endings.ts';
import { expire } from './failures.ts';
import { createLines } from './lines.ts';
import { type Pursuit, pursue } from './pursuit.ts';
import { keyOf, WANTED } from './wants.ts';

const BATCH = 200;
const LONGEST_CALL_MS = 60_000;
const READY_MS = 5_000;
/** While some lines take nothing, looking for what others take may mean to read past all that is due: not too often. */
const VAIN_MS = 1_000;
const LOOKED_AT = 4_000;

export interface WantsQueueOptions extends Omit<Pursuit, 'lines' | 'longestCallMs'> {
  /** A backend that does not answer for this long counts as unavailable. */
  longestCallMs?: number;
  /** The regions whose infrastructure it works on; all of them if not given. */
  regions?: readonly number[] | undefined;
}

/** The queue that brings about what is wanted. */
export function wantsQueue(options: WantsQueueOptions): Queue {
  const { database, claims, log, clock, workerId, regions, longestCallMs = LONGEST_CALL_MS } = options;
  const lines = createLines();
  const pursuit: Pursuit = { ...options, lines, longestCallMs };

  let lastLookForReady = Number.NEGATIVE_INFINITY;
  let lookedAt: string | undefined;
  let lastInVain = Number.NEGATIVE_INFINITY;

  /** One end that fails must not keep the others from theirs. */
  const tried = (ending: Promise<unknown>) =>
    ending.catch((error: unknown) => log.warn({ err: error }, 'a task could not be ended, trying again'));

  async function expireOverdue(): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      select id from tasks where state in ('NEW', 'RUNNING') and deadline_at <= ${clock.now()} and input is not null
      order by deadline_at limit ${BATCH}`.execute(database.sql);
    for (const { id } of rows) await tried(expire(pursuit, id));
  }

  return {
    name: 'wants',
    topic: WANTED,
    table: 'wants',
    // Stable, unlike clock_timestamp(): the index is searched for it.
    isDue: () => sql<boolean>`exists (
      select from wants where worker_id is null and due_at <= statement_timestamp()
        and (${regions ?? null}::bigint[] is null or region_id = any(${regions ?? null}::bigint[])))`,
    async take(_inHand, begin) {
      lines.rejectStuck();
      const closed = lines.closed();
      if (closed.length > 0 && performance.now() - lastInVain < VAIN_MS) return false;
      const taken = await takeDue(claims.sql, workerId, BATCH, closed, regions);
      if (taken.length === 0) {
        lastInVain = performance.now();
        return false;
      }
      for (const claim of taken) {
        const work = (signal: AbortSignal) => pursue(pursuit, claim, signal);
        begin({ key: keyOf(claim), state: claim.generation, work });
      }
      await beginTasks(claims.sql, taken, clock.now());
      return true;
    },
    claimed: () => claimedBy(claims.sql, workerId),
    giveBack: (keys) => giveBack(claims.sql, workerId, keys),
    takeFromDead: () => takeFromDead(claims.sql),
    async sweep() {
      await expireOverdue();
      // Workers seldom die, and this looks at all waiting tasks: at some of them each time, with a pause after the last.
      if (lookedAt === undefined && performance.now() - lastLookForReady < READY_MS) return;
      lastLookForReady = performance.now();
      const { ready, last } = await readyTasks(database, lookedAt, LOOKED_AT);
      for (const id of ready) await tried(finishReady(pursuit, id));
      lookedAt = last;
    },
  };
}
