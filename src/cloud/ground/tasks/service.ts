import type { CreatedResources, TaskType } from '../../../convergence/task-kind.ts';
import { type SpecCheck, type Wanted, want } from '../../../convergence/wants.ts';
import type { ChangeFeed } from '../../../db/changes.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { periodOf } from '../../../lib/calendar-time.ts';
import type { Clock } from '../../../lib/clock.ts';
import { dryRunNow } from '../../../lib/dry-run.ts';
import { ConflictError, HeldError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { isUuid, newTaskId } from '../../../lib/ids.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import { ownsClient, type Principal } from '../../../requests/principal.ts';
import type { Secrets } from '../../../secrets/secrets.ts';
import type { Scope } from '../projects/service.ts';
import * as acknowledgements from './acknowledgement-store.ts';
import { listTasks } from './list-store.ts';
import type { AcknowledgeQuery, TaskListQuery } from './schema.ts';
import { ACTIVE, ENDED } from './states.ts';
import { beginWaiting, findLateRemoval, findTask, insertTask, type TaskRow, waitLike } from './store.ts';
import { createTaskWaiting } from './waiting.ts';

/** An accepted change of what is wanted of infrastructure. */
export interface TaskStart<Input> {
  task: TaskType<Input>;
  /** The task's parameters, as the API shows them. Contains no secrets. */
  data: object;
  /** What the task's end needs to know. */
  input: Input;
  /** What the task waits for. */
  wants: readonly Wanted[];
  /** Set if the ID must be known earlier, for example to hold a row with it. */
  id?: string;
}

type Removing = Pick<TaskType<unknown>, 'type'>;

/** Owner and place of the work. Some work has no region, and that on whole accounts no project. */
export type TaskScope = Omit<Scope, 'projectId' | 'region' | 'regionId' | 'taskId'> & {
  projectId: number | null;
  regionId: number | null;
};

/** Returns the ID for the task of a deletion. A deletion that had to wait has one already. */
export const deletionId = ({ taskId }: Pick<Scope, 'taskId'>): string => taskId ?? newTaskId();

/** Whether the client waits for a task even if its update changes nothing. */
export interface TaskAnyway {
  taskAnyway: boolean;
}

export interface Tasks {
  /**
   * Starts a task in the caller's transaction: the row that clients poll and what it waits for commit together. Call
   * it once all affected rows are locked. @throws InvalidError for what the infrastructure can't do
   */
  begin<Input extends object>(tx: Transaction, scope: Scope, start: TaskStart<Input>): Promise<string>;
  /**
   * Starts a task for work that isn't infrastructure's. Whoever does it says when it begins and ends: see
   * `in-transaction.ts`.
   */
  beginWork<Input extends object>(
    tx: Transaction,
    scope: TaskScope,
    start: Omit<TaskStart<Input>, 'wants'>,
  ): Promise<string>;
  /**
   * Starts another task for a removal that continues after its own task has ended with an error, and returns its ID.
   * Undefined if `heldBy` is no such task or its type isn't one of `kinds`.
   */
  removeAgain(
    tx: Transaction,
    scope: Scope,
    heldBy: string | null,
    ...kinds: [Removing, ...Removing[]]
  ): Promise<string | undefined>;
  /** Wants something that no task waits for. @throws as `begin` */
  want(tx: Transaction, scope: Scope, wants: readonly Wanted[]): Promise<void>;
  /**
   * Records a task for work that the caller's transaction does itself, for clients that wait for a task. It is
   * FINISHED from the beginning, so it can't end differently from the work.
   */
  done(
    tx: Transaction,
    scope: TaskScope,
    task: { type: string; data: object; created: CreatedResources | null },
  ): Promise<string>;
  /** Returns what an update that changes nothing answers: a task that is FINISHED if the client wants one, or none. */
  unchanged(
    tx: Transaction,
    scope: TaskScope,
    task: { type: string; data: object },
    options: TaskAnyway,
  ): Promise<string | undefined>;
  /** @throws NotFoundError for an unknown task and for another account's task */
  get(principal: Principal, taskId: string): Promise<TaskRow>;
  /**
   * Returns the task when it has ended, when the time is over or when `gone` is aborted. `waited` is false if too many
   * requests wait already; then the task is returned at once. @throws NotFoundError
   */
  ended(
    principal: Principal,
    taskId: string,
    wait: { seconds: number; gone: AbortSignal },
  ): Promise<{ task: TaskRow; waited: boolean }>;
  /** Answers all waiting requests, and later ones at once. Call it when the server stops. */
  stopWaiting(): void;
  /** Lists the tasks of the caller's account. @throws InvalidError for a time that no calendar has */
  list(principal: Principal, query: TaskListQuery): Promise<Page<TaskRow>>;
  /** Lists the tasks that have not ended in the scope's project and region, newest first. */
  active(scope: Scope, query: PageQuery & { task_type?: string[] }): Promise<Page<TaskRow>>;
  /** Returns the task with its first acknowledgement. @throws NotFoundError */
  acknowledge(principal: Principal, taskId: string): Promise<TaskRow>;
  /** Acknowledges the tasks of the caller's account that have ended. */
  acknowledgeEnded(principal: Principal, where: AcknowledgeQuery): Promise<void>;
  /** @throws InvalidError naming the tasks that don't exist; none is acknowledged then */
  acknowledgeNamed(principal: Principal, taskIds: string[], where: AcknowledgeQuery): Promise<void>;
}

export function createTasks(deps: {
  database: Database;
  changes: ChangeFeed;
  clock: Clock;
  backends: { check: SpecCheck };
  secrets: Secrets;
}): Tasks {
  const { database, backends, secrets } = deps;
  const check: SpecCheck = (regionId, kind, spec) => backends.check(regionId, kind, spec);
  const waiting = createTaskWaiting(deps.changes);

  async function get(principal: Principal, taskId: string): Promise<TaskRow> {
    const row = isUuid(taskId) ? await findTask(database.sql, taskId) : undefined;
    if (!row || !ownsClient(principal, row.client_id)) throw new NotFoundError('Task', taskId);
    return row;
  }
  function timesOf(deadlineMs: number) {
    const createdOn = deps.clock.now();
    return { createdOn, deadlineAt: new Date(createdOn.getTime() + deadlineMs) };
  }
  const acknowledgement = ({ userId: by }: Principal) => ({ by, at: deps.clock.now() });

  async function beginWork<Input extends object>(
    tx: Transaction,
    scope: TaskScope,
    { task: { type, deadlineMs }, id = newTaskId(), data, input }: Omit<TaskStart<Input>, 'wants'>,
  ): Promise<string> {
    await insertTask(tx.sql, { ...ownerOf(scope), ...timesOf(deadlineMs), id, type, data, input });
    scope.principal.writes?.started(id);
    return id;
  }

  /** Starts a task that is new, or that has waited. */
  async function beginOrGoOn<Input extends object>(
    tx: Transaction,
    scope: Scope,
    start: Omit<TaskStart<Input>, 'wants'>,
  ): Promise<string> {
    const { id, data, input, task } = start;
    if (id === undefined || id !== scope.taskId) return beginWork(tx, scope, start);
    await beginWaiting(tx.sql, { id, data, input, ...timesOf(task.deadlineMs) });
    return id;
  }

  const done: Tasks['done'] = async (tx, scope, { type, data, created }) => {
    const id = newTaskId();
    const times = timesOf(0);
    await insertTask(tx.sql, { ...ownerOf(scope), ...times, id, type, data, input: null, done: { created } });
    scope.principal.writes?.started(id);
    return id;
  };

  return {
    get,
    beginWork,
    async begin(tx, scope, { wants, ...start }) {
      const id = await beginOrGoOn(tx, scope, start);
      await want(tx, scope, wants, { taskId: id, check, secrets });
      return id;
    },
    async removeAgain(tx, scope, heldBy, ...kinds) {
      const late = heldBy === null ? undefined : await findLateRemoval(tx.sql, heldBy);
      if (!late || !kinds.some((kind) => kind.type === late.task_type)) return undefined;
      const { task_type: type, data, deadline_ms: deadlineMs } = late;
      const id = await beginOrGoOn(tx, scope, {
        id: deletionId(scope),
        task: { type, deadlineMs },
        data,
        input: { follows: late.id },
      });
      await waitLike(tx.sql, late.id, id);
      return id;
    },
    want: (tx, scope, wants) => want(tx, scope, wants, { check }),
    done,
    unchanged: async (tx, scope, task, { taskAnyway }) =>
      taskAnyway ? done(tx, scope, { ...task, created: null }) : undefined,
    async ended(principal, taskId, wait) {
      const now = await get(principal, taskId);
      if (hasEnded(now)) return { task: now, waited: true };
      return waiting.until({
        ...wait,
        taskId: now.id,
        read: () => get(principal, taskId),
        ended: hasEnded,
      });
    },
    stopWaiting: () => waiting.stop(),

    list: (principal, query) =>
      listTasks(database.sql, { ...query, ...periodOf(query), clientId: principal.clientId }),
    active: (scope, query) =>
      listTasks(database.sql, {
        ...query,
        project_id: [scope.projectId],
        region_id: [scope.regionId],
        state: ACTIVE,
      }),

    async acknowledge(principal, taskId) {
      const { id, client_id } = await get(principal, taskId);
      principal.writes?.concerns(client_id);
      await database.accept(principal, (tx) =>
        acknowledgements.acknowledgeTask(tx.sql, id, acknowledgement(principal)),
      );
      return get(principal, id);
    },
    acknowledgeEnded: (principal, where) =>
      database.accept(principal, (tx) =>
        acknowledgements.acknowledgeEnded(tx.sql, tasksWhere(principal, where), acknowledgement(principal)),
      ),
    async acknowledgeNamed(principal, taskIds, where) {
      const ids = [...new Set(taskIds.map((id) => id.toLowerCase()))];
      await database.accept(principal, async (tx) => {
        const missing = await acknowledgements.acknowledgeNamed(
          tx.sql,
          ids,
          tasksWhere(principal, where),
          acknowledgement(principal),
        );
        if (missing.length > 0) {
          throw new InvalidError({ task_ids: [`Unknown task ${missing.join(', ')}; leave it out.`] });
        }
      });
    },
  };
}

/** Returns the caller and the place of a task. */
export function ownerOf(scope: TaskScope) {
  return {
    clientId: scope.clientId,
    userId: scope.principal.userId,
    userClientId: scope.principal.clientId,
    projectId: scope.projectId,
    regionId: scope.regionId,
    requestId: scope.requestId,
  };
}

function hasEnded({ state }: TaskRow): boolean {
  return ENDED.includes(state);
}

function tasksWhere({ clientId }: Principal, { project_id, region_id }: AcknowledgeQuery) {
  return { clientId, projectId: project_id, regionId: region_id };
}

/** Well below the time limit of a request. */
const MOST_SECONDS = 30;

/** The description of operations that answer after `waitForTask`. */
export const WAIT_TEXT = `Responds when the operation is done, or after ${MOST_SECONDS} seconds with the current state.`;

/**
 * Delays the answer to a client that doesn't know tasks until the task has ended, for half a minute at most.
 * @throws ConflictError when the task failed, and `what` is as before
 */
export async function waitForTask(
  tasks: Pick<Tasks, 'ended'>,
  taskId: string,
  what: string,
  { principal, gone }: { principal: Principal; gone: AbortSignal },
): Promise<void> {
  // Its task will never begin.
  if (dryRunNow()) return;
  const { task } = await tasks.ended(principal, taskId, { seconds: MOST_SECONDS, gone });
  if (task.state === 'ERROR') throw new ConflictError(`${what} was not changed: ${task.error}`);
}

/**
 * Deletes what has no task: waits for the task that holds it, for half a minute at most. @throws what `remove` throws,
 * HeldError if it is held nevertheless
 */
export async function whenFree(
  tasks: Pick<Tasks, 'ended'>,
  { principal, gone }: { principal: Principal; gone: AbortSignal },
  remove: () => Promise<void>,
): Promise<void> {
  const until = performance.now() + MOST_SECONDS * 1_000;
  for (let last: string | undefined; ; ) {
    try {
      return await remove();
    } catch (error) {
      if (!(error instanceof HeldError) || error.taskId === last || dryRunNow()) throw error;
      last = error.taskId;
      const seconds = (until - performance.now()) / 1_000;
      const wait = { seconds: Math.max(0, seconds), gone };
      const ended = await tasks.ended(principal, last, wait).catch(() => undefined);
      if (!ended || !hasEnded(ended.task)) throw error;
    }
  }
}
