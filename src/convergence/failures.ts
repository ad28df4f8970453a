import { sql } from 'kysely';
import type { Kind } from '../backends/contract/backend.ts';
import { type Transaction, withSavepoint } from '../db/database.ts';
import { type Claim, isMine, Overtaken } from './claims.ts';
import { isTransient } from './transient.ts';
import { endWaiting } from './waiting-deletions.ts';
import {
  type Endings,
  endTask,
  forgetWaiting,
  isFollower,
  isUnended,
  lockTasks,
  type WaitingTask,
  waitingTasks,
} from './waiting-tasks.ts';
import { titleOf, undone, type Wanted, type WantScope, want } from './wants.ts';

/** The `complete` of a task failed. This is the fault of that task alone, even if others wait for the same want. */
export class EndFailed extends Error {
  override readonly name = 'EndFailed';
  readonly taskId: string;

  constructor(taskId: string, cause: unknown) {
    super(`Ending task ${taskId} failed`, { cause });
    this.taskId = taskId;
  }
}

/** Fails a task whose `complete` failed. */
export async function failEnd(endings: Endings, error: EndFailed): Promise<void> {
  const { taskId } = error;
  endings.log.error({ err: error, taskId }, 'ending a task failed');
  const reason = `The task failed because of an internal error. The server's log has the details under task ${taskId}`;
  await endings.database.transaction(async (tx) => {
    const task = await lockUnended(tx, taskId);
    if (task) await fail(endings, tx, task, reason);
  });
}

/**
 * Fails the task that wanted this last, since the infrastructure refused it. Returns false if no task waits
 * for the want.
 * @throws Overtaken
 */
export function refuse(endings: Endings, workerId: string, claim: Claim, reason: string): Promise<boolean> {
  return endings.database.transaction(async (tx) => {
    await lockTasks(tx, await waitingTasks(tx.sql, claim));
    if (!(await isMine(tx.sql, workerId, claim))) throw new Overtaken();
    const had = claim.settled_generation ?? 0;
    const waiting = (await waitingTasks(tx.sql, claim)).filter((task) => isUnended(task) && task.generation > had);
    const [newest] = waiting.toSorted((one, other) => other.generation - one.generation);
    if (!newest) return false;
    await fail(endings, tx, newest, `${titleOf(claim)}: ${reason}`);
    return true;
  });
}

/** Fails a task whose deadline has passed. Returns false if it has ended already. */
export function expire(endings: Endings, taskId: string): Promise<boolean> {
  return endings.database.transaction(async (tx) => {
    const task = await lockUnended(tx, taskId);
    if (!task) return false;
    const doing = await doingOf(tx, taskId);
    const reason = `deadline exceeded: the task should have ended by ${task.deadline_at.toISOString()}; ${doing}`;
    await fail(endings, tx, task, reason);
    return true;
  });
}

/** Fails a task as if the infrastructure had refused it. Returns false if it has ended already. */
export async function failTask(endings: Endings, tx: Transaction, taskId: string, reason: string): Promise<boolean> {
  const task = await lockUnended(tx, taskId);
  if (!task) return false;
  await fail(endings, tx, task, reason);
  return true;
}

async function lockUnended(
  tx: Transaction,
  taskId: string,
): Promise<(WaitingTask & { deadline_at: Date }) | undefined> {
  const { rows } = await sql<WaitingTask & { deadline_at: Date }>`
    select id, task_type, state, input, deadline_at from tasks
    where id = ${taskId} and state in ('NEW', 'RUNNING') for update`.execute(tx.sql);
  return rows[0];
}

/**
 * Ends a task with an ERROR and undoes what it wanted. Removals go on: part of the thing may be gone already,
 * and making it again would leave it empty.
 */
async function fail(endings: Endings, tx: Transaction, task: WaitingTask, reason: string): Promise<void> {
  const { taskEnds, clock, log } = endings;
  if (await endWaiting(endings, tx, task.id, () => reason)) return;
  const kind = taskEnds.get(task.task_type);
  const forget = isFollower(task);
  if (kind?.removes) {
    const error = `${reason}; the removal continues`;
    endTask(endings, tx, task.id, { state: 'ERROR', error, at: clock.now(), forget });
    log.warn({ taskId: task.id, reason }, 'a removal continues after its task has ended');
    return;
  }
  endTask(endings, tx, task.id, { state: 'ERROR', error: reason, at: clock.now(), forget });
  if (forget) return;
  let instead: readonly Wanted[] = [];
  try {
    if (!kind) throw new Error('The task type is unknown, so nothing can be restored');
    instead = (await withSavepoint(tx, (part) => kind.abandon(part, { id: task.id }, task.input, reason))) ?? [];
  } catch (error) {
    if (isTransient(error)) throw error;
    // A task whose rows can't be put back still has to end, or its readers wait forever.
    log.error({ err: error, taskId: task.id }, 'the rows of a failed task could not be restored');
  }
  if (!kind?.keeps) await takeBack(tx, task.id);
  await forgetWaiting(tx, task.id);
  if (instead.length > 0) await want(tx, await scopeOf(tx, task.id), instead);
  log.info({ taskId: task.id, type: task.task_type, reason }, 'task failed');
}

/** Undoes the changes that a task wanted. */
async function takeBack(tx: Transaction, taskId: string): Promise<void> {
  const { rows } = await sql<{ kind: Kind; id: string; undo: object | null; is_newest: boolean }>`
    select wants.kind, wants.id, undo, wants.generation = task_wants.generation as is_newest
    from task_wants join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = ${taskId} order by wants.kind, wants.id for no key update of wants`.execute(tx.sql);
  const wanted = rows.map(({ kind, id, undo, is_newest }): Wanted => {
    const spec = (former: object | null | undefined) =>
      undone(former ?? null, undo, { wasRemoval: former === null && is_newest });
    return { kind, id, spec, isNew: false };
  });
  await want(tx, null, wanted);
}

async function scopeOf(tx: Transaction, taskId: string): Promise<WantScope> {
  const { rows } = await sql<WantScope>`
    select client_id as "clientId", project_id as "projectId", region_id as "regionId" from tasks
    where id = ${taskId} and region_id is not null`.execute(tx.sql);
  const [scope] = rows;
  if (!scope) throw new Error(`Task ${taskId} is in no region, so it has no infrastructure`);
  return scope;
}

async function doingOf(tx: Transaction, taskId: string): Promise<string> {
  const { rows } = await sql<{ kind: string; id: string; doing: string | null; worker_id: string | null }>`
    select wants.kind, wants.id, doing, worker_id
    from task_wants join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = ${taskId} and (settled_generation is null or settled_generation < task_wants.generation)
    order by doing is null, wants.kind limit 1`.execute(tx.sql);
  const [first] = rows;
  if (!first) return 'all of its work was done';
  const thing = titleOf(first);
  if (first.doing !== null) return `${thing}: ${first.doing}`;
  return first.worker_id === null ? 'no worker was free to take it' : `${thing} did not answer`;
}
