import type { WorkKind } from '../../../../engines/index.ts';
import { type Database, holds } from '../../../db/database.ts';
import type { Clock } from '../../../lib/time.ts';
import { MAX_RETRIES } from '../states.ts';
import { AI_TASKS, type Step, takeStep } from '../store.ts';
import * as store from './store.ts';

/** If more workers than this died while working on a task, the task is considered the cause. */
const MAX_LOSSES = 10;

/** A worker's claims of tasks. Each change is one transaction, so that a task has at most one worker. */
export interface Claims {
  /** Claims the next task that is not excluded; undefined if there is none. */
  take(limits: {
    kinds: readonly WorkKind[];
    perClient: number;
    except: readonly string[];
    exceptClients: readonly number[];
  }): Promise<store.Claim | undefined>;
  /**
   * Releases a task with one step. Returns whether it took the step: not if the task was cancelled meanwhile,
   * or if another worker has it by now.
   */
  release(id: string, step: Step): Promise<boolean>;
  /** Puts the tasks of dead workers back into the queue. Returns how many. */
  takeFromDead(): Promise<number>;
}

export function createClaims(deps: { database: Database; clock: Clock; workerId: string }): Claims {
  const { database, clock, workerId } = deps;
  return {
    async take(limits) {
      if (!(await holds(database.sql, store.anyWaiting(clock.now())))) return undefined;
      return database.transaction(async (tx) => {
        await store.lockClaims(tx);
        const now = clock.now();
        const claim = await store.nextWaiting(tx, { ...limits, now });
        if (!claim) return undefined;
        await store.insertRun(tx, workerId, claim);
        await takeStep(tx.sql, claim.id, { to: 'STARTED' }, now);
        return claim;
      });
    },

    release: (id, step) =>
      database.transaction(async (tx) => {
        if (!(await store.deleteRun(tx, workerId, id))) return false;
        const taken = await takeStep(tx.sql, id, step, clock.now());
        tx.announce(AI_TASKS);
        return taken !== undefined;
      }),

    takeFromDead: () =>
      database.transaction(async (tx) => {
        const lost = await store.buryDead(tx);
        for (const { id, losses } of lost) {
          const step: Step =
            losses > MAX_LOSSES ? { to: 'FAILURE', result: { error: WORKERS_DIED } } : { to: 'PENDING' };
          await takeStep(tx.sql, id, step, clock.now());
          tx.announce(AI_TASKS);
        }
        return lost.length;
      }),
  };
}

const WORKERS_DIED = 'The task was given up: the process working on it stopped too many times';

/** Returns the step after an internal error: a retry after a pause, and finally FAILURE. */
export function afterFault(
  { id, retries }: store.Claim,
  { now, pausesMs }: { now: Date; pausesMs: readonly number[] },
): Step {
  if (retries >= MAX_RETRIES) {
    const error = `The task failed because of an internal error, ${MAX_RETRIES + 1} times. The server's log has the details under task ${id}`;
    return { to: 'FAILURE', result: { error } };
  }
  return { to: 'RETRY', at: new Date(now.getTime() + (pausesMs[retries] ?? 0)) };
}
