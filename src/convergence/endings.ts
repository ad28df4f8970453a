import { sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';
import { type Claim, noteSettled } from './claims.ts';
import { EndFailed, failEnd } from './failures.ts';
import type { Notice, Seen } from './task-kind.ts';
import { isTransient } from './transient.ts';
import {
  type Endings,
  endTask,
  forgetWaiting,
  isFollower,
  isUnended,
  lockReady,
  lockTasks,
  type ReadyTask,
  SEEN,
  UNSETTLED,
  waitingTasks,
} from './waiting-tasks.ts';
import { keyOf, type Wanted, want } from './wants.ts';

type SeenThing = ReadyTask['seen'][number];

/** The observation of a want that is just being settled. */
interface JustSeen {
  claim: Claim;
  observed: object | null;
}

/**
 * Notes that the want is settled, and ends the tasks that waited for nothing else. If a task waits for this
 * want alone, both happen in one transaction.
 * @throws Overtaken, EndFailed
 */
export async function settle(endings: Endings, workerId: string, own: JustSeen): Promise<void> {
  const { database } = endings;
  const { claim } = own;
  // A removal that goes on by itself can gain another waiting task.
  const isAwaited = claim.awaited || claim.spec === null;
  const othersWait =
    isAwaited || mayBeNoticed(endings, own)
      ? await settleWithTasks(endings, workerId, own, isAwaited)
      : await noteSettled(database, workerId, own);
  if (!othersWait) return;
  // The other wants of a task may have been settled at the same moment.
  for (const { id, others_settled } of await waitingTasks(database.sql, claim)) {
    if (others_settled) await finishReady(endings, id);
  }
}

/** Returns whether other tasks may wait for nothing else either. @throws Overtaken, EndFailed */
async function settleWithTasks(
  endings: Endings,
  workerId: string,
  own: JustSeen,
  isAwaited: boolean,
): Promise<boolean> {
  const { claim } = own;
  let finishing: string | undefined;
  const ending = endings.database.transaction(async (tx) => {
    finishing = undefined;
    const tasks = isAwaited ? await lockReady(tx, claim) : [];
    const instead: Wanted[] = [];
    for (const task of tasks) {
      finishing = task.id;
      instead.push(...(await finish(endings, tx, task, own)));
    }
    finishing = undefined;
    if (tasks.length === 0)
      instead.push(...(await notice(endings, tx, [{ ...claim, observed: own.observed }], { wait: true })));
    const othersWait = await noteSettled(tx, workerId, own);
    await want(tx, null, instead);
    return othersWait || claim.spec === null;
  });
  return ending.catch((error: unknown) => {
    throw finishing === undefined ? error : new EndFailed(finishing, error);
  });
}

/** Ends a task that waits for nothing any more. If its end fails, the task gets an ERROR. */
export async function finishReady(endings: Endings, taskId: string): Promise<void> {
  const leader = await leaderOf(endings.database, taskId);
  // The leader does the work at the end, before anybody learns that this task has ended.
  if (leader !== undefined) await finishReady(endings, leader);
  const ending = endings.database.transaction(async (tx) => {
    await lockTasks(tx, [{ id: taskId }]);
    const { rows } = await sql<ReadyTask>`
      select id, task_type, state, input, ${SEEN} from tasks
      where id = ${taskId} and exists (select from task_wants where task_id = tasks.id) and not exists (${UNSETTLED})
        and not exists (select from task_wants where task_id = ${leader ?? null}::uuid)`.execute(tx.sql);
    const [task] = rows;
    if (task) await want(tx, null, await finish(endings, tx, task));
  });
  await ending.catch((error: unknown) => {
    if (isTransient(error)) throw error;
    return failEnd(endings, new EndFailed(taskId, error));
  });
}

/** Sorts below every other id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Looks at the `limit` waiting tasks whose ids come after `after`. `ready` are those that have not been ended
 * although everything that they waited for is there: their worker died in between. `last` is where to
 * continue, undefined at the end.
 */
export async function readyTasks(
  { sql: db }: Database,
  after: string | undefined,
  limit: number,
): Promise<{ ready: string[]; last: string | undefined }> {
  const { rows } = await sql<{ id: string; is_ready: boolean }>`
    select id, not exists (${UNSETTLED}) as is_ready
    from (
      select distinct task_id as id from task_wants where task_id > ${after ?? NO_ID}
      order by task_id limit ${limit}
    ) as tasks order by id`.execute(db);
  const ready = rows.filter(({ is_ready }) => is_ready).map(({ id }) => id);
  return { ready, last: rows.length < limit ? undefined : rows.at(-1)?.id };
}

/** Returns what is to be wanted instead of what was observed. */
async function finish(endings: Endings, tx: Transaction, task: ReadyTask, own?: JustSeen): Promise<Wanted[]> {
  const { taskEnds, clock } = endings;
  const kind = taskEnds.get(task.task_type);
  if (!kind) throw new Error(`Tasks of the type ${task.task_type} are not known to this version`);
  const made = isFollower(task) ? undefined : await kind.complete(tx, { id: task.id }, task.input, seenBy(task, own));
  // The task ended before its removal, which is complete now.
  if (!isUnended(task)) {
    await forgetWaiting(tx, task.id);
    return [];
  }
  const resources = made ?? null;
  endTask(endings, tx, task.id, { state: 'FINISHED', error: null, at: clock.now(), resources, forget: true });
  const seen = task.seen.map((one) =>
    own && keyOf(own.claim) === keyOf(one) ? { ...one, observed: own.observed, generation: own.claim.generation } : one,
  );
  return notice(endings, tx, seen, { wait: false });
}

const mayBeNoticed = ({ notices }: Endings, { claim, observed }: JustSeen): boolean =>
  claim.spec !== null && observed !== null && notices?.[claim.kind] !== undefined;

async function notice(
  { notices }: Endings,
  tx: Transaction,
  seen: readonly SeenThing[],
  { wait }: { wait: boolean },
): Promise<Wanted[]> {
  const instead: Wanted[] = [];
  for (const { kind, id, observed, generation } of seen) {
    const noticed = notices?.[kind] as Notice | undefined;
    const isCurrent = () => isWanted(tx, { kind, id, generation });
    if (noticed && observed) instead.push(...(await noticed(tx, id, observed, { isCurrent, wait })));
  }
  return instead;
}

/** Whether nothing else is wanted of it since. */
async function isWanted(tx: Transaction, { kind, id, generation }: Omit<SeenThing, 'observed'>): Promise<boolean> {
  const { rows } = await sql`
    select from wants where kind = ${kind} and id = ${id} and generation = ${generation}`.execute(tx.sql);
  return rows.length > 0;
}

function seenBy({ seen: noted }: ReadyTask, own?: JustSeen): Seen {
  const seen = new Map(noted.map(({ kind, id, observed }) => [`${kind}:${id}`, observed]));
  if (own) seen.set(keyOf(own.claim), own.observed);
  return (kind, id) => {
    const key = keyOf({ kind, id });
    const found = seen.get(key);
    if (!found) throw new Error(`No state was observed for ${key}`);
    return found as never;
  };
}

/** Returns the earlier task whose removal this task waits for. */
async function leaderOf({ sql: db }: Database, taskId: string): Promise<string | undefined> {
  const { rows } = await sql<{ leader: string | null }>`
    select input ->> 'follows' as leader from tasks where id = ${taskId}`.execute(db);
  return rows[0]?.leader ?? undefined;
}
