import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { lockProject } from '../../../cloud/ground/projects/in-transaction.ts';
import { forgetQuotasOf } from '../../../cloud/ground/quotas/service.ts';
import { workBegins, workEnds } from '../../../cloud/ground/tasks/service.ts';
import { deleteSubscription } from '../../../cloud/ground/user-actions/subscriptions/service.ts';
import { removeEmpty } from '../../../cloud/network/project-changes/service.ts';
import { REMOVALS } from '../../../cloud/wings.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import type { DeletionStep } from '../../../db/json-columns.ts';
import { lockForGood, markClientDeleted } from '../../../iam/accounts/service.ts';
import { takeOutSome } from '../../../iam/accounts/users/in-transaction.ts';
import { deactivateAllOf } from '../../../iam/features/service.ts';
import { endLogins } from '../../../iam/logins/in-transaction.ts';
import { deleteTokensOf } from '../../../iam/tokens/service.ts';
import { DomainError, NotFoundError } from '../../../lib/errors.ts';
import { recordedBy } from '../../../lib/request-context.ts';
import type { Clock } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { deleteTasksOf } from '../../../streaming/ai-tasks/service.ts';
import type { Queue } from '../../../worker/worker.ts';
import { forgetRequestOf } from '../../deletion-requests/service.ts';
import { deleteWebhooksOf } from '../../webhooks/service.ts';
import { DELETIONS } from '../tasks.ts';
import { callerOf, recordOfDeletion, tell, tellOfAccount } from './caller.ts';
import { KINDS, kindOf } from './kinds.ts';
import * as store from './store.ts';
import { type Claimed, holdsSomething, type Left, leftIn, lockOpen } from './store.ts';

/** The rest of the process needs connections too. */
const AT_ONCE = 4;

/** What one look at a project came to. */
export interface Look {
  isGone: boolean;
  /** Whether anything was deleted, or begun to be. */
  advanced: boolean;
  steps: DeletionStep[];
}

/**
 * Does the next thing for a project to go: deletes what nothing else needs, each by its own service and in its own
 * transaction, and the project when it is empty. Whoever continues later sees what is left in the database.
 */
export async function emptyProject(
  on: Platform,
  deletion: Claimed,
  projectId: number,
  signal: AbortSignal,
): Promise<Look> {
  const { counts, free } = await leftIn(on.database.sql, projectId);
  const inTurn = pLimit(AT_ONCE);
  const refusals = new Map<string, string>();
  let advanced = false;
  await Promise.all(
    free.map((left) =>
      inTurn(async () => {
        if (signal.aborted) return;
        const refusal = await removeOne(on, deletion, projectId, left);
        if (refusal === undefined) advanced = true;
        else refusals.set(left.kind, refusal);
      }),
    ),
  );
  const steps = stepsOf(projectId, counts, refusals);
  if (steps.length > 0 || signal.aborted) return { isGone: false, advanced, steps };
  const refusal = await refusalOf(removeProject(on, deletion, projectId));
  if (refusal === undefined) return { isGone: true, advanced: true, steps };
  return { isGone: false, advanced, steps: [waiting('project', projectId, refusal)] };
}

async function removeOne(
  on: Platform,
  deletion: Claimed,
  projectId: number,
  { kind, key, regionId, userId }: Left,
): Promise<string | undefined> {
  const region = regionId === null ? [...on.catalog.regions.values()][0] : on.catalog.regions.get(regionId);
  if (!region) return `region ${regionId} is not in the catalogue any more`;
  const caller = callerOf(deletion);
  const { clientId, requestId } = deletion;
  const principal = userId === null ? caller : { ...caller, userId };
  const scope = { projectId, regionId: region.id, region, clientId, principal, requestId };
  const record = recordOfDeletion(deletion, { projectId, regionId });
  const remove = REMOVALS[kindOf(kind).type];
  if (!remove) throw new TypeError(`Nothing removes ${kind}`);
  return refusalOf(recordedBy(record, () => remove(on, scope, key)));
}

/** Returns why it was refused; undefined if it was not, or is gone already. */
async function refusalOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

function removeProject(on: Platform, deletion: Claimed, projectId: number): Promise<void> {
  const { database, clock, catalog } = on;
  return database.transaction(async (tx) => {
    const project = await lockProject(tx, projectId);
    // The kit for testers takes deletions back.
    if (!project || !(await lockOpen(tx, deletion.taskId))) return;
    await removeEmpty(tx, project, { regions: catalog.regions, now: clock.now() });
    const place = { projectId, regionId: null, taskId: undefined };
    await tell(tx, deletion, { ...project, type: 'project' }, place);
  });
}

function stepsOf(
  projectId: number,
  counts: ReadonlyMap<string, number>,
  refusals: ReadonlyMap<string, string>,
): DeletionStep[] {
  return KINDS.flatMap(({ kind }): DeletionStep[] => {
    const count = counts.get(kind) ?? 0;
    if (count === 0) return [];
    const refusal = refusals.get(kind);
    if (refusal !== undefined) return [waiting(kind, projectId, `${count} left; ${refusal}`)];
    return [{ kind, id: String(projectId), state: 'doing', doing: `${count} left` }];
  });
}

const waiting = (kind: string, id: number, doing: string): DeletionStep => ({
  kind,
  id: String(id),
  state: 'waiting',
  doing,
});

const BATCH = 500;

/**
 * Deletes what an account has besides its projects, in batches. What was used, who did what, and the account's own row stay.
 */
export async function emptyAccount(
  { database, clock }: { database: Database; clock: Clock },
  clientId: number,
  signal: AbortSignal,
): Promise<void> {
  const until = async (some: (tx: Transaction) => Promise<number>) => {
    while (!signal.aborted && (await database.transaction(some)) > 0);
  };
  const now = clock.now();
  await until((tx) => deleteTasksOf(tx, clientId, BATCH));
  await database.transaction(async (tx) => {
    await deleteWebhooksOf(tx, clientId);
    await deleteSubscription(tx, clientId);
    await deactivateAllOf(tx, clientId);
    await forgetQuotasOf(tx, clientId);
    await forgetRequestOf(tx, clientId);
    await deleteTokensOf(tx, clientId, now);
    await endLogins(tx, { clientId });
  });
  await until((tx) => takeOutSome(tx, clientId, { limit: BATCH, now }));
}

/** Marks the account as deleted. Returns false if a request that had begun before has added something to it. */
export async function closeAccount(tx: Transaction, clientId: number, now: Date): Promise<boolean> {
  await lockForGood(tx, clientId);
  if (await holdsSomething(tx, clientId)) return false;
  await markClientDeleted(tx, clientId, now);
  return true;
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
export async function pursueDeletion(
  on: Platform,
  deletion: store.Claimed,
  signal: AbortSignal,
): Promise<void> {
  const { database, clock, log } = on;
  const { taskId, projectId } = deletion;
  await database.transaction((tx) => workBegins(tx, taskId, clock.now()));
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

async function emptyWholeAccount(
  on: Platform,
  deletion: store.Claimed,
  signal: AbortSignal,
): Promise<{ isGone: boolean; advanced: boolean; steps: DeletionStep[] }> {
  const { database } = on;
  const { clientId } = deletion;
  const ids = await store.projectsOf(database.sql, clientId, PROJECTS_SHOWN);
  const [next, ...others] = ids;
  if (next !== undefined) {
    const look = await emptyProject(on, deletion, next, signal);
    const rest = others.map(
      (id): DeletionStep => ({ kind: 'project', id: String(id), state: 'waiting', doing: null }),
    );
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
      if (!(await closeAccount(tx, clientId, now))) return false;
      await tellOfAccount(tx, deletion);
    }
    await store.noteSteps(tx.sql, taskId, steps);
    await store.noteEnd(tx.sql, taskId, now);
    await workEnds(tx, taskId, now, on);
    return true;
  });
}

/** Deletions that one process works on at a time. */
const HERE = 4;
const KEPT_MS = 24 * 3_600_000;

/** The queue of deletions: each by one worker at a time. */
export function deletionQueue(
  on: Platform,
  { workerId, removalTime }: { workerId: string; removalTime: Clock },
): Queue {
  const { database } = on;
  return {
    name: 'deletions',
    topic: DELETIONS,
    async take(inHand, begin) {
      const room = HERE - inHand.size;
      const taken = room > 0 ? await store.take(database.sql, workerId, room) : [];
      for (const one of taken) {
        const work = (signal: AbortSignal) => pursueDeletion(on, one, signal);
        begin({ key: one.taskId, state: one.claims, work });
      }
      return taken.length > 0;
    },
    claimed: () => store.claimedBy(database.sql, workerId),
    giveBack: (ids) => store.giveBack(database.sql, workerId, ids),
    takeFromDead: () => store.takeFromDead(database.sql),
    sweep: () => store.forgetEnded(database.sql, new Date(removalTime.now().getTime() - KEPT_MS)),
  };
}
