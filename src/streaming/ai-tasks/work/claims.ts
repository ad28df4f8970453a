import { announce } from '../../../db/changes.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { WorkKind } from '../capabilities.ts';
import { MAX_RETRIES } from '../states.ts';
import { AI_TASKS, type Step, takeStep } from '../store.ts';
import * as store from './store.ts';

/** Past this many workers that died over a task, it is taken for the reason. */
const MAX_LOSSES = 10;

/** A worker's hold on tasks. Each change of hands is one transaction, so a task has one worker at most. */
export interface Claims {
  /** Takes the next task into work, and none of what is excepted; undefined when there is none to take. */
  take(limits: {
    kinds: readonly WorkKind[];
    perClient: number;
    except: readonly string[];
    exceptClients: readonly number[];
  }): Promise<store.Claim | undefined>;
  /**
   * Gives a task out of its hands, one step on. Answers whether it took the step: not if it was cancelled meanwhile,
   * and not if another worker has it by now.
   */
  release(id: string, step: Step): Promise<boolean>;
  /** Puts the tasks of dead workers back into the queue. Answers how many. */
  takeFromDead(): Promise<number>;
}

export function createClaims(deps: { database: Database; clock: Clock; workerId: string }): Claims {
  const { database, clock, workerId } = deps;
  return {
    take: (limits) =>
      database.transaction(async (tx) => {
        await store.lockClaims(tx);
        const now = clock.now();
        const claim = await store.nextWaiting(tx, { ...limits, now });
        if (!claim) return undefined;
        await store.insertRun(tx, workerId, claim);
        await takeStep(tx.sql, claim.id, { to: 'STARTED' }, now);
        return claim;
      }),

    release: (id, step) =>
      database.transaction(async (tx) => {
        if (!(await store.deleteRun(tx, workerId, id))) return false;
        const taken = await takeStep(tx.sql, id, step, clock.now());
        await announce(tx.client, AI_TASKS, '');
        return taken !== undefined;
      }),

    takeFromDead: () =>
      database.transaction(async (tx) => {
        const lost = await store.buryDead(tx);
        for (const { id, losses } of lost) {
          const step: Step =
            losses > MAX_LOSSES ? { to: 'FAILURE', result: { error: WORKERS_DIED } } : { to: 'PENDING' };
          await takeStep(tx.sql, id, step, clock.now());
          await announce(tx.client, AI_TASKS, '');
        }
        return lost.length;
      }),
  };
}

const WORKERS_DIED = 'The task was given up: the process working on it stopped too many times';

/** Where a fault of ours leads: to another try after a pause, and in the end to FAILURE. */
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
