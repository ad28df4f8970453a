import { endWaiting } from '../../../../convergence/waiting-deletions.ts';
import { lockTasks, WAITING } from '../../../../convergence/waiting-tasks.ts';
import { holds, wasOvertaken } from '../../../../db/database.ts';
import { DomainError, HeldError, NotFoundError, UsedError } from '../../../../lib/errors.ts';
import { twice } from '../../../../lib/ids.ts';
import { type ChangeRecord, recordedBy } from '../../../../lib/request-context.ts';
import type { ActionResource } from '../../../../lib/resources.ts';
import type { Platform } from '../../../../platform.ts';
import { callerOfDeletion } from '../../../../requests/principal.ts';
import { claimsIn } from '../../../../worker/claims.ts';
import type { Queue } from '../../../../worker/worker.ts';
import type { WaitingDeletion } from './service.ts';
import * as store from './store.ts';

/** Deletions that one process tries at a time. */
const HERE = 4;
/** Before the next attempt, if the task has ended and its thing is held nevertheless. */
const PAUSE_MS = 2_000;
const BATCH = 200;

export interface WaitingWork {
  workerId: string;
  deletions: readonly WaitingDeletion[];
}

/** The queue of deletions that wait for a task: each is tried once the task has ended. */
export function waitingDeletionsQueue(on: Platform, work: WaitingWork): Queue {
  const { database, clock, taskEnds } = on;
  const { workerId } = work;
  return {
    name: 'waiting deletions',
    topic: WAITING,
    isDue: () => store.ANY_DUE,
    async take(inHand, begin) {
      const room = HERE - inHand.size;
      if (room <= 0 || !(await holds(database.sql, store.ANY_DUE))) return false;
      const taken = await store.take(database.sql, workerId, room);
      for (const one of taken) begin({ key: one.taskId, state: one.claims, work: () => attempt(on, work, one) });
      return taken.length > 0;
    },
    ...claimsIn(database.sql, workerId, { table: 'waiting_deletions', key: 'task_id', count: 'claims' }),
    async sweep() {
      if (!(await holds(database.sql, store.ANY_THERE))) return;
      await store.forgetEnded(database.sql);
      await store.noticeEnds(database.sql);
      const now = clock.now();
      for (const id of await store.extendOrFindOverdue(database.sql, now, [...taskEnds.values()], BATCH)) {
        await end(
          on,
          id,
          (behind) =>
            `deadline exceeded: what it deletes is held by task ${behind} for too long; delete it again when that task has ended`,
        );
      }
    },
  };
}

/** Begins the task, or finds out why it can't. */
async function attempt(on: Platform, work: WaitingWork, one: store.Claimed): Promise<void> {
  const { taskId, projectId, regionId, clientId, requestId } = one;
  const region = on.catalog.regions.get(regionId);
  // This process may not have the catalogue yet that has the region.
  if (!region) return again(on, work, one);
  const scope = { projectId, regionId, region, clientId, principal: callerOfDeletion(one), requestId, taskId };
  try {
    const record = { ...NOTHING, about: (thing: ActionResource) => refuseOther(one.about, thing) };
    await recordedBy(record, () => twice(() => deletionOf(work, one.kind).remove(on, scope, ...one.args)));
  } catch (error) {
    if (error instanceof NotFoundError) await end(on, taskId);
    else if (error instanceof HeldError) await waitOn(on, work, one, error);
    // Many users may go together, or it can't be told what it was that came in between.
    else if (error instanceof UsedError && !one.inUse) await again(on, work, one, { inUse: true });
    else if (error instanceof DomainError && isTransient(error)) await again(on, work, one);
    else if (error instanceof DomainError) await end(on, taskId, () => error.message);
    else throw error;
  }
}

/** @throws TypeError */
function deletionOf({ deletions }: WaitingWork, type: string): WaitingDeletion {
  const deletion = deletions.find((each) => each.type === type);
  if (!deletion) throw new TypeError(`There are no deletions of the type ${type}`);
  return deletion;
}

function again(
  { database }: Platform,
  { workerId }: WaitingWork,
  one: store.Claimed,
  { inUse }: { inUse: boolean } = one,
): Promise<void> {
  return store.tryAgain(database.sql, workerId, one.taskId, { pauseMs: PAUSE_MS, inUse });
}

async function waitOn(on: Platform, work: WaitingWork, one: store.Claimed, held: HeldError): Promise<void> {
  const { database } = on;
  const { workerId } = work;
  // Another worker has begun with it.
  if (held.taskId === one.taskId) return;
  if (held.taskId === one.behind) return again(on, work, one);
  if (await store.isBehind(database.sql, held.taskId, one.taskId)) {
    return end(on, one.taskId, () => held.message);
  }
  await database.transaction(async (tx) => {
    const all = await store.alike(tx, one, held.taskId);
    // The other task doesn't end before this transaction, so that its end finds what waits for it.
    await lockTasks(tx, [...all, { id: held.taskId }]);
    await store.waitFor(tx, workerId, all, { one, behind: held.taskId });
  });
}

const isTransient = (error: DomainError): boolean => error.kind === 'unavailable' || wasOvertaken(error);

/** Ends a task that has waited: it has nothing to do any more, or can't do it. */
async function end(on: Platform, taskId: string, why?: (behind: string) => string): Promise<void> {
  await on.database.transaction((tx) => endWaiting(on, tx, taskId, why));
}

const NOTHING: ChangeRecord = {
  before: async () => {},
  after: async () => {},
  committed() {},
  concerns() {},
  about() {},
  made() {},
  started() {},
};

/** Something may have taken a name over since. @throws NotFoundError */
function refuseOther(about: readonly ActionResource[], { type, id, name = null }: ActionResource): void {
  const same = about.filter((one) => one.type === type && name !== null && one.name === name);
  if (same.length > 0 && !same.some((one) => one.id === id)) throw new NotFoundError(type, String(id));
}
