import type { TaskEnd } from '../../../../convergence/task-kind.ts';
import { endWaiting } from '../../../../convergence/waiting-deletions.ts';
import { type Endings, lockTasks, WAITING } from '../../../../convergence/waiting-tasks.ts';
import { type RequestWrites, wasOvertaken } from '../../../../db/database.ts';
import type { ActionResource } from '../../../../lib/action-resource.ts';
import { DomainError, HeldError, NotFoundError, UsedError } from '../../../../lib/errors.ts';
import { twice } from '../../../../lib/held.ts';
import { type Principal, ROLES } from '../../../../requests/principal.ts';
import type { Queue } from '../../../../worker/queue.ts';
import type { Catalog } from '../../catalog/service.ts';
import type { Deleters } from './kinds.ts';
import { deletionOf } from './service.ts';
import * as store from './store.ts';

/** Deletions that one process tries at a time. */
const HERE = 4;
/** Before the next attempt, if the task has ended and its thing is held nevertheless. */
const PAUSE_MS = 2_000;
const BATCH = 200;

export interface WaitingDeletions extends Omit<Endings, 'kinds'> {
  workerId: string;
  /** How long each kind may take. */
  kinds: readonly TaskEnd[];
  catalog: Pick<Catalog, 'regions'>;
  /** Those that don't wait. */
  deleters: Deleters;
}

/** The queue of deletions that wait for a task: each is tried once the task has ended. */
export function waitingDeletionsQueue(deps: WaitingDeletions): Queue {
  const { database, workerId, clock } = deps;
  return {
    name: 'waiting deletions',
    topic: WAITING,
    async take(inHand, begin) {
      const room = HERE - inHand.size;
      if (room <= 0 || !(await store.isAnyDue(database.sql))) return false;
      const taken = await store.take(database.sql, workerId, room);
      for (const one of taken) begin({ key: one.taskId, state: one.claims, work: () => attempt(deps, one) });
      return taken.length > 0;
    },
    claimed: () => store.claimedBy(database.sql, workerId),
    giveBack: (ids) => store.giveBack(database.sql, workerId, ids),
    takeFromDead: () => store.takeFromDead(database.sql),
    async sweep() {
      await store.forgetEnded(database.sql);
      await store.noticeEnds(database.sql);
      const now = clock.now();
      await store.extend(database.sql, now, deps.kinds);
      for (const id of await store.overdue(database.sql, now, BATCH)) {
        await end(
          deps,
          id,
          (behind) =>
            `deadline exceeded: what it deletes is held by task ${behind} for too long; delete it again when that task has ended`,
        );
      }
    },
  };
}

/** The service begins the task, or says why it can't. */
async function attempt(deps: WaitingDeletions, one: store.Claimed): Promise<void> {
  const { catalog, deleters } = deps;
  const { taskId, projectId, regionId, clientId, requestId } = one;
  const region = catalog.regions.get(regionId);
  // This process may not have the catalogue yet that has the region.
  if (!region) return again(deps, one);
  const scope = { projectId, regionId, region, clientId, principal: principalOf(one), requestId, taskId };
  try {
    await twice(() => deletionOf(deleters, one.kind)(scope, ...one.args));
  } catch (error) {
    if (error instanceof NotFoundError) await end(deps, taskId);
    else if (error instanceof HeldError) await waitOn(deps, one, error);
    // Many users may go together, or it can't be told what it was that came in between.
    else if (error instanceof UsedError && !one.inUse) await again(deps, one, { inUse: true });
    else if (error instanceof DomainError && isTransient(error)) await again(deps, one);
    else if (error instanceof DomainError) await end(deps, taskId, () => error.message);
    else throw error;
  }
}

function again(
  { database, workerId }: WaitingDeletions,
  one: store.Claimed,
  { inUse }: { inUse: boolean } = one,
): Promise<void> {
  return store.tryAgain(database.sql, workerId, one.taskId, { pauseMs: PAUSE_MS, inUse });
}

async function waitOn(deps: WaitingDeletions, one: store.Claimed, held: HeldError): Promise<void> {
  const { database, workerId } = deps;
  // Another worker has begun with it.
  if (held.taskId === one.taskId) return;
  if (held.taskId === one.behind) return again(deps, one);
  if (await store.isBehind(database.sql, held.taskId, one.taskId)) {
    return end(deps, one.taskId, () => held.message);
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
async function end(deps: WaitingDeletions, taskId: string, why?: (behind: string) => string): Promise<void> {
  await deps.database.transaction((tx) => endWaiting(deps, tx, taskId, why));
}

/** The caller had the right to delete it when the deletion was accepted, and was recorded then. */
const principalOf = ({ userId, userClientId, about }: store.Claimed): Principal => ({
  writes: { ...NOTHING, about: (thing) => refuseOther(about, thing) },
  tokenId: undefined,
  loginId: undefined,
  userId,
  clientId: userClientId,
  roleId: ROLES.administrators.id,
  resellerId: undefined,
  platformAdministrator: true,
});

/** All was recorded with the request. */
const NOTHING: RequestWrites = {
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
