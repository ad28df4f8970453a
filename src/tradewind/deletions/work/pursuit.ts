import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { workBegins, workEnds } from '../../../cloud/ground/tasks/service.ts';
import type { Transaction } from '../../../db/database.ts';
import type { DeletionStep } from '../../../db/json-columns.ts';
import { takeOutSome } from '../../../iam/accounts/users/in-transaction.ts';
import type { Platform } from '../../../platform.ts';
import { deleteTasksOf } from '../../../streaming/ai-tasks/service.ts';
import { claimsIn } from '../../../worker/claims.ts';
import type { Queue } from '../../../worker/worker.ts';
import { closeAccount, shutAccount } from '../in-transaction.ts';
import { DELETIONS } from '../tasks.ts';
import { tellOfAccount } from './caller.ts';
import { emptyProject, type Look } from './project.ts';
import * as store from './store.ts';

const BATCH = 500;

/**
 * Deletes what an account has besides its projects, in batches. What was used, who did what, and the account's own row stay.
 */
export async function emptyAccount(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  clientId: number,
  signal: AbortSignal,
): Promise<void> {
  const until = async (some: (tx: Transaction) => Promise<number>) => {
    while (!signal.aborted && (await database.transaction(some)) > 0);
  };
  const now = clock.now();
  await until((tx) => deleteTasksOf(tx, clientId, BATCH));
  await database.transaction((tx) => shutAccount(tx, clientId));
  await until((tx) => takeOutSome(tx, clientId, { limit: BATCH, now }));
}

/** Between two looks while something is going on, and while all of it waits. */
const SOON_MS = 200;
const LATER_MS = 5_000;
const PROJECTS_SHOWN = 200;
/** Those that are done long ago are left out. */
const STEPS_SHOWN = 400;

/**
 * Deletes until nothing is left, and then ends the task. Nothing is remembered between two looks, so that any process may
 * continue at any time.
 */
export async function pursueDeletion(on: Platform, deletion: store.Claimed, signal: AbortSignal): Promise<void> {
  const { database, log } = on;
  const { taskId, projectId } = deletion;
  await database.transaction((tx) => workBegins(tx, taskId));
  let steps = deletion.steps;
  let pause = SOON_MS;
  while (!signal.aborted) {
    try {
      const look = await (projectId === null
        ? emptyWholeAccount(on, deletion, signal)
        : emptyProject(on, deletion, projectId, signal));
      if (signal.aborted) return;
      if (look.isGone && (await end(on, deletion, continued(steps, [])))) return;
      const now = continued(steps, look.steps);
      const isNews = !isDeepStrictEqual(now, steps);
      if (isNews) await store.noteSteps(database.sql, taskId, now);
      pause = look.advanced || isNews ? SOON_MS : Math.min(pause * 1.5, LATER_MS);
      steps = now;
    } catch (error) {
      if (signal.aborted) return;
      pause = LATER_MS;
      log.warn({ err: error, taskId }, 'a deletion could not go on, trying again');
    }
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}

async function emptyWholeAccount(on: Platform, deletion: store.Claimed, signal: AbortSignal): Promise<Look> {
  const { database } = on;
  const { clientId } = deletion;
  const ids = await store.projectsOf(database.sql, clientId, PROJECTS_SHOWN);
  const [next, ...others] = ids;
  if (next !== undefined) {
    const look = await emptyProject(on, deletion, next, signal);
    const rest = others.map((id): DeletionStep => ({ kind: 'project', id: String(id), state: 'waiting', doing: null }));
    return { isGone: false, advanced: look.advanced, steps: [...look.steps, ...rest] };
  }
  await emptyAccount(on, clientId, signal);
  return { isGone: true, advanced: true, steps: [] };
}

/** Returns the steps with those that were there before: what is left of nothing is removed. */
function continued(before: readonly DeletionStep[], now: readonly DeletionStep[]): DeletionStep[] {
  const keyOf = ({ kind, id }: DeletionStep) => `${kind} ${id}`;
  const open = new Set(now.map(keyOf));
  const removed = before
    .filter((one) => !open.has(keyOf(one)))
    .map((one): DeletionStep => ({ ...one, state: 'removed', doing: null }));
  return [...removed, ...now].slice(-STEPS_SHOWN);
}

/** Returns false if something is left after all. */
function end(on: Platform, deletion: store.Claimed, steps: readonly DeletionStep[]): Promise<boolean> {
  const { database, clock } = on;
  const { taskId, clientId, projectId } = deletion;
  return database.transaction(async (tx) => {
    // Somebody else may have ended it, who took it from this worker.
    if (!(await store.lockOpen(tx, taskId))) return true;
    const now = clock.now();
    if (projectId === null) {
      if (!(await closeAccount(tx, clientId))) return false;
      await tellOfAccount(tx, deletion);
    }
    await store.noteSteps(tx.sql, taskId, steps);
    await tx.sql
      .updateTable('deletions')
      .set({ ended_at: now, worker_id: null })
      .where('task_id', '=', taskId)
      .execute();
    await workEnds(tx, taskId, on);
    return true;
  });
}

/** Deletions that one process works on at a time. */
const HERE = 4;

/** The queue of deletions: each by one worker at a time. */
export function deletionQueue(on: Platform, workerId: string): Queue {
  const { database } = on;
  return {
    name: 'deletions',
    topic: DELETIONS,
    isDue: () => store.ANY_FREE,
    async take(inHand, begin) {
      const room = HERE - inHand.size;
      const taken = room > 0 ? await store.take(database.sql, workerId, room) : [];
      for (const one of taken) {
        const work = (signal: AbortSignal) => pursueDeletion(on, one, signal);
        begin({ key: one.taskId, state: one.claims, work });
      }
      return taken.length > 0;
    },
    ...claimsIn(database.sql, workerId, { table: 'deletions', key: 'task_id', count: 'claims' }),
  };
}
