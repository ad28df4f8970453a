import { sql } from 'kysely';
import type { CreatedResources, TaskType } from '../../../convergence/task-kind.ts';
import { type Endings, endTask } from '../../../convergence/waiting-tasks.ts';
import { type HowWanted, keyOf, type Name, tasksOn, type Wanted, want } from '../../../convergence/wants.ts';
import type { Place, Transaction } from '../../../db/database.ts';
import { ConflictError, HeldError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { inUse, isUuid, LOOKED_AT, newTaskId } from '../../../lib/ids.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import { dryRunNow, noteAccount } from '../../../lib/request-context.ts';
import { periodOf } from '../../../lib/time.ts';
import type { Platform, Scope } from '../../../platform.ts';
import * as requestsPrincipal from '../../../requests/principal.ts';
import { checkOf } from '../maintenance/service.ts';
import * as acknowledgements from './list-store.ts';
import * as list from './list-store.ts';
import type { AcknowledgeQuery, TaskListQuery } from './schema.ts';
import { ACTIVE, ENDED } from './states.ts';
import { beginWaiting, findLateRemoval, findTask, insertTask, type TaskRow, waitLike } from './store.ts';

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

/**
 * @throws NotFoundError for an unknown task and for another account's task, ForbiddenError for who may only look at the
 * things in its project
 */
export async function getTask(
  on: Platform,
  principal: requestsPrincipal.Principal,
  taskId: string,
  access: requestsPrincipal.Access = 'read',
): Promise<TaskRow> {
  const row = isUuid(taskId) ? await findTask(on.database.sql, taskId) : undefined;
  const isSeen =
    row &&
    requestsPrincipal.ownsClient(principal, row.client_id) &&
    requestsPrincipal.seesProject(principal, row.project_id);
  if (!isSeen) throw new NotFoundError('Task', taskId);
  if (row.project_id !== null) requestsPrincipal.requireIn(principal, row.project_id, access);
  return row;
}

function timesOf(on: Platform, deadlineMs: number) {
  const createdOn = on.clock.now();
  return { createdOn, deadlineAt: new Date(createdOn.getTime() + deadlineMs) };
}

const acknowledgement = (on: Platform, { userId: by }: requestsPrincipal.Principal) => ({
  by,
  at: on.clock.now(),
});

/**
 * Starts a task for work that needs no infrastructure. The code that does the work reports its beginning and its end: see
 * `in-transaction.ts`.
 */
export async function beginWork<Input extends object>(
  on: Platform,
  tx: Transaction,
  scope: TaskScope,
  { task: { type, deadlineMs }, id = newTaskId(), data, input }: Omit<TaskStart<Input>, 'wants'>,
): Promise<string> {
  insertTask(tx, { ...ownerOf(scope), ...timesOf(on, deadlineMs), id, type, data, input });
  tx.started(id);
  return id;
}

/** Starts a task that is new, or that has waited. */
async function beginOrGoOn<Input extends object>(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  start: Omit<TaskStart<Input>, 'wants'>,
): Promise<string> {
  const { id, data, input, task } = start;
  if (id === undefined || id !== scope.taskId) return beginWork(on, tx, scope, start);
  await beginWaiting(tx.sql, { id, data, input, ...timesOf(on, task.deadlineMs) });
  return id;
}

/**
 * Records a task for work that the caller's transaction does itself, for clients that wait for a task. It is
 * FINISHED from the beginning, so it can't end differently from the work.
 */
export const recordDoneTask = async (
  on: Platform,
  tx: Transaction,
  scope: TaskScope,
  { type, data, created }: { type: string; data: object; created: CreatedResources | null },
) => {
  const id = newTaskId();
  const times = timesOf(on, 0);
  insertTask(tx, { ...ownerOf(scope), ...times, id, type, data, input: null, done: { created } });
  tx.started(id);
  return id;
};

/**
 * Starts a task in the caller's transaction: the row that clients poll and what it waits for commit together. Call
 * it once all affected rows are locked. @throws InvalidError for what the infrastructure can't do, UnavailableError while it is
 * in maintenance
 */
export async function beginTask<Input extends object>(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  { wants, ...start }: TaskStart<Input>,
): Promise<string> {
  const id = await beginOrGoOn(on, tx, scope, start);
  await want(tx, scope, wants, { taskId: id, check: await checkOf(on), secrets: on.secrets });
  return id;
}

/**
 * Starts another task for a removal that continues after its own task has ended with an error, and returns its ID.
 * Undefined if `heldBy` is no such task or its type isn't one of `kinds`.
 */
export async function removeAgain(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  heldBy: string | null,
  ...kinds: [Removing, ...Removing[]]
): Promise<string | undefined> {
  const late = heldBy === null ? undefined : await findLateRemoval(tx.sql, heldBy);
  if (!late || !kinds.some((kind) => kind.type === late.task_type)) return undefined;
  const { task_type: type, data, deadline_ms: deadlineMs } = late;
  const id = await beginOrGoOn(on, tx, scope, {
    id: deletionId(scope),
    task: { type, deadlineMs },
    data,
    input: { follows: late.id },
  });
  await waitLike(tx.sql, late.id, id);
  return id;
}

/**
 * Wants something that no task waits for. What takes no time is there with the commit. With `removes` it is accepted in a
 * maintenance: something goes that it was connected to. @throws as `beginTask`
 */
export const wantChecked = async (
  on: Platform,
  tx: Transaction,
  scope: Scope,
  wants: readonly Wanted[],
  { removes = false, locked }: { removes?: boolean } & Pick<HowWanted, 'locked'> = {},
): Promise<void> =>
  want(tx, scope, wants, {
    check: removes ? on.backends.check : await checkOf(on),
    atOnce: on.backends.atOnce,
    locked,
  });

/** Returns what an update that changes nothing answers: a task that is FINISHED if the client wants one, or none. */
export const unchangedTask = async (
  on: Platform,
  tx: Transaction,
  scope: TaskScope,
  task: { type: string; data: object },
  { taskAnyway }: TaskAnyway,
): Promise<string | undefined> => (taskAnyway ? recordDoneTask(on, tx, scope, { ...task, created: null }) : undefined);

/**
 * Returns the task when it has ended, when the time is over or when `gone` is aborted. `waited` is false if too many
 * requests wait already; then the task is returned at once. @throws NotFoundError
 */
export async function awaitTask(
  on: Platform,
  principal: requestsPrincipal.Principal,
  taskId: string,
  wait: { seconds: number; gone: AbortSignal },
): Promise<{ task: TaskRow; waited: boolean }> {
  const now = await getTask(on, principal, taskId);
  if (hasEnded(now)) return { task: now, waited: true };
  return on.taskWaiting.until({
    ...wait,
    taskId: now.id,
    read: () => getTask(on, principal, taskId),
    ended: hasEnded,
  });
}

/** Lists the tasks of the caller's account. @throws InvalidError for a time that no calendar has */
export const listTasks = (
  on: Platform,
  principal: requestsPrincipal.Principal,
  query: TaskListQuery,
): Promise<Page<TaskRow>> => {
  const project_id = requestsPrincipal.projectsSeen(principal, query.project_id);
  return list.listTasks(on.database.sql, {
    ...query,
    ...periodOf(query),
    clientId: principal.clientId,
    ...(project_id && { project_id }),
  });
};

/** Lists the tasks that have not ended in the scope's project and region, newest first. */
export const listActiveTasks = (
  on: Platform,
  scope: Scope,
  query: PageQuery & { task_type?: string[] },
): Promise<Page<TaskRow>> =>
  list.listTasks(on.database.sql, {
    ...query,
    project_id: [scope.projectId],
    region_id: [scope.regionId],
    state: ACTIVE,
  });

/** Returns the task with its first acknowledgement. @throws NotFoundError */
export async function acknowledgeTask(
  on: Platform,
  principal: requestsPrincipal.Principal,
  taskId: string,
): Promise<TaskRow> {
  const { id, client_id } = await getTask(on, principal, taskId, 'operate');
  noteAccount(client_id);
  await on.database.accept((tx) => acknowledgements.acknowledgeTask(tx.sql, id, acknowledgement(on, principal)));
  return getTask(on, principal, id);
}

export const acknowledgeEndedTasks = (
  on: Platform,
  principal: requestsPrincipal.Principal,
  where: AcknowledgeQuery,
): Promise<void> =>
  on.database.accept((tx) =>
    acknowledgements.acknowledgeEnded(tx.sql, tasksWhere(principal, where), acknowledgement(on, principal)),
  );

/** @throws InvalidError naming the tasks that don't exist; none is acknowledged then */
export async function acknowledgeNamedTasks(
  on: Platform,
  principal: requestsPrincipal.Principal,
  taskIds: string[],
  where: AcknowledgeQuery,
): Promise<void> {
  const ids = [...new Set(taskIds.map((id) => id.toLowerCase()))];
  await on.database.accept(async (tx) => {
    const missing = await acknowledgements.acknowledgeNamed(
      tx.sql,
      ids,
      tasksWhere(principal, where),
      acknowledgement(on, principal),
    );
    if (missing.length > 0) {
      throw new InvalidError({ task_ids: [`Unknown task ${missing.join(', ')}; leave it out.`] });
    }
  });
}

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

function tasksWhere({ clientId }: requestsPrincipal.Principal, { project_id, region_id }: AcknowledgeQuery) {
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
  on: Platform,
  taskId: string,
  what: string,
  { principal, gone }: { principal: requestsPrincipal.Principal; gone: AbortSignal },
): Promise<void> {
  // Its task will never begin.
  if (dryRunNow()) return;
  const { task } = await awaitTask(on, principal, taskId, { seconds: MOST_SECONDS, gone });
  if (task.state === 'ERROR') throw new ConflictError(`${what} was not changed: ${task.error}`);
}

/**
 * Deletes what has no task: waits for the task that holds it, for half a minute at most. @throws what `remove` throws,
 * HeldError if it is held nevertheless
 */
export async function whenFree(
  on: Platform,
  { principal, gone }: { principal: requestsPrincipal.Principal; gone: () => AbortSignal },
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
      const wait = { seconds: Math.max(0, seconds), gone: gone() };
      const ended = await awaitTask(on, principal, last, wait).catch(() => undefined);
      if (!ended || !hasEnded(ended.task)) throw error;
    }
  }
}

/** Sets a task of `beginWork` to RUNNING. */
export async function workBegins(tx: Transaction, id: string): Promise<void> {
  await tx.sql
    .updateTable('tasks')
    .set({ state: 'RUNNING', updated_on: tx.now })
    .where('id', '=', id)
    .where('state', '=', 'NEW')
    .execute();
}

/** Sets a task of `beginWork` to FINISHED, unless its deadline has ended it. */
export async function workEnds(tx: Transaction, id: string, endings: Pick<Endings, 'measures' | 'traces'>) {
  const task = await tx.sql
    .selectFrom('tasks')
    .select('id')
    .where('id', '=', id)
    .where('state', 'in', ['NEW', 'RUNNING'])
    .forUpdate()
    .executeTakeFirst();
  if (task) endTask(endings, tx, id, { state: 'FINISHED', error: null, at: tx.now, forget: false });
}

/** Deletions that wait have no wants yet. */
const DELETED_BY: Partial<Record<Name['kind'], string>> = {
  cluster: 'delete_k8s_cluster_v2',
  file_share: 'delete_sfs',
  floating_ip: 'delete_fip',
  load_balancer: 'delete_loadbalancer',
  machine: 'delete_vm',
  port: 'delete_reserved_fixed_ip',
  snapshot: 'delete_snapshot',
  volume: 'delete_volume',
};

/**
 * Returns for each of the users of something the task that removes it, or will when it has waited; undefined if there is none.
 * A user may go with several things: a port with its own removal, or with that of its machine.
 */
async function removersOf(tx: Transaction, users: readonly (readonly Name[])[]): Promise<(string | undefined)[]> {
  const things = users.flat().map(({ kind, id }) => ({ kind, id, deleted_by: DELETED_BY[kind] }));
  // Clusters are deleted by their names. First, since what begins meanwhile has wants.
  const { rows } = await sql<Name & { task_id: string }>`
    select name.kind, name.id, waiting.task_id
    from jsonb_to_recordset(${JSON.stringify(things)}::jsonb) as name (kind text, id uuid, deleted_by text)
    left join kubernetes_clusters as cluster on name.kind = 'cluster' and cluster.id = name.id
    join waiting_deletions as waiting on waiting.kind = deleted_by
      and lower(waiting.args ->> 0) = coalesce(cluster.name, name.id::text)
    where name.kind <> 'cluster'
      or (waiting.project_id, waiting.region_id) = (cluster.project_id, cluster.region_id)`.execute(tx.sql);
  const later = new Map(rows.map((row) => [keyOf(row), row.task_id]));
  const now = await tasksOn(tx, things, { removing: true });
  return users.map((ways) =>
    ways.map((way) => now.get(keyOf(way)) ?? later.get(keyOf(way))).find((task) => task !== undefined),
  );
}

/**
 * Returns the refusal of something that others use: a deletion may wait if each of them has a task that removes it. Each is
 * given as the things with which it may go; `holders` are tasks that take users away in other ways.
 */
export async function usedBy(
  tx: Transaction,
  message: string,
  users: readonly (readonly Name[])[],
  holders: readonly (string | null)[] = [],
): Promise<ConflictError> {
  // With so many, no deletion waits.
  if (users.length >= LOOKED_AT) return inUse(message, []);
  const removers = await removersOf(tx, users);
  const leaving = removers.map((task, index) => holders[index] ?? task);
  const staying = users.filter((_, index) => leaving[index] === undefined);
  return inUse(message, leaving, await haveLeft(tx, staying.flat()));
}

/** Whether some of the things are gone since they were found. */
async function haveLeft(tx: Transaction, things: readonly Name[]): Promise<boolean> {
  if (things.length === 0) return false;
  const { rows } = await sql`
    select from jsonb_to_recordset(${JSON.stringify(things)}::jsonb) as thing (kind text, id uuid)
    where not exists (select from wants where wants.kind = thing.kind and wants.id = thing.id) limit 1`.execute(tx.sql);
  return rows.length > 0;
}

/**
 * Refuses to delete something with things that were named and aren't part of it. A deletion that has waited passes over those
 * that are gone. @throws InvalidError, ConflictError for one that is elsewhere by now
 */
export async function refuseForeign(
  scope: Scope,
  foreign: readonly string[],
  {
    field,
    message,
    what,
    stillThere,
  }: {
    field: string;
    message: string;
    what: string;
    stillThere(ids: readonly string[]): Promise<string[]>;
  },
): Promise<void> {
  if (foreign.length === 0) return;
  if (scope.taskId === undefined) throw new InvalidError({ [field]: [`${message}: ${foreign.join(', ')}.`] });
  const left = await stillThere(foreign);
  if (left.length === 0) return;
  throw new ConflictError(
    `${what} ${left.join(', ')} went elsewhere while the deletion waited; send the deletion again without it, and delete it by itself`,
  );
}

/**
 * Refuses to put something into what a waiting deletion of that type will take away, as nobody asked for that.
 * @throws ConflictError
 */
export async function refuseDoomed(
  tx: Transaction,
  { projectId, regionId }: Place,
  what: string,
  { type, id }: { type: string; id: string },
): Promise<void> {
  const { rows } = await sql<{ task_id: string }>`
    select task_id from waiting_deletions
    where lower(args ->> 0) = lower(${id}) and kind = ${type}
      and project_id = ${projectId} and region_id = ${regionId} limit 1`.execute(tx.sql);
  const [waiting] = rows;
  if (!waiting) return;
  throw new ConflictError(
    `${what} will be deleted by task ${waiting.task_id}, which waits for another task; cancel that task first`,
  );
}

/** Returns the refusal of something that others are made from: a deletion may wait until all of them are there. */
export async function neededBy(tx: Transaction, message: string, things: readonly Name[]): Promise<ConflictError> {
  const tasks = await tasksOn(tx, things, { removing: false });
  const makers = things.map((thing) => tasks.get(keyOf(thing)));
  // One without a task has been made since it was found.
  return inUse(message, makers, makers.includes(undefined));
}
