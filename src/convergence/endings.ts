import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Kind } from '../backends/contract/backend.ts';
import { announce, CHANNEL } from '../db/changes.ts';
import type { Database, Transaction } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Clock } from '../lib/clock.ts';
import type { Claim } from './claims.ts';
import type { Seen, TaskEnd } from './task-kind.ts';
import { isTransient } from './transient.ts';
import { undone } from './undo.ts';
import { keyOf, orderOf, WANTED, type Wanted, type WantPlace, want } from './wants.ts';

/** The topic under which whoever waits for a task hears that it has ended; the key is its id. */
export const TASK_ENDED = 'task-ended';

export interface Endings {
  database: Database;
  clock: Clock;
  log: Logger;
  kinds: ReadonlyMap<string, TaskEnd>;
}

interface WaitingTask {
  id: string;
  task_type: string;
  state: string;
  input: unknown;
  generation: number;
  awaited: Awaited[];
}

interface Awaited {
  key: string;
  there: boolean;
  settled: boolean;
  observed: object | null;
}

/** Somebody else has the want by now, or something else is wanted: what was found out counts for nothing. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** What a task makes of its end failed: that is its own fault, whoever else waits for the same. */
export class EndFailed extends Error {
  override readonly name = 'EndFailed';
  readonly taskId: string;

  constructor(taskId: string, cause: unknown) {
    super(`The end of task ${taskId} failed`, { cause });
    this.taskId = taskId;
  }
}

/*
 * Locks are taken in one order by everything here: tasks, the rows of the things, wants. Whoever accepts a request locks
 * the last two in that order too.
 */

/**
 * The want is there as wanted: notes it, and ends the tasks that waited for nothing else. Where a task waits for this
 * one alone, both come in one transaction. @throws Overtaken, EndFailed
 */
export async function settle(
  endings: Endings,
  workerId: string,
  claim: Claim,
  observed: object | null,
): Promise<void> {
  const { database } = endings;
  const ready = (await waitingTasks(database.sql, claim)).filter(({ awaited }) => areSettled(awaited, claim));
  if (ready.length === 0) await noteSettled(database.sql, workerId, claim, observed);
  else {
    let finishing: string | undefined;
    const ending = database.transaction(async (tx) => {
      finishing = undefined;
      await lockTasks(tx, ready);
      for (const task of await waitingTasks(tx.sql, claim)) {
        if (!areSettled(task.awaited, claim) || !ready.some(({ id }) => id === task.id)) continue;
        finishing = task.id;
        await finish(endings, tx, task, { claim, observed });
      }
      finishing = undefined;
      await noteSettled(tx.sql, workerId, claim, observed);
    });
    await ending.catch((error: unknown) => {
      throw finishing === undefined ? error : new EndFailed(finishing, error);
    });
  }
  // What else a task waits for may have come at the same moment.
  for (const { id, awaited } of await waitingTasks(database.sql, claim)) {
    if (areSettled(awaited)) await finishReady(endings, id);
  }
}

/** Ends a task that waits for nothing any more: with an ERROR, where its end fails. */
export async function finishReady(endings: Endings, taskId: string): Promise<void> {
  const leader = await leaderOf(endings.database, taskId);
  // What there is to do at the end is done before anybody is told.
  if (leader !== undefined) await finishReady(endings, leader);
  const ending = endings.database.transaction(async (tx) => {
    await lockTasks(tx, [{ id: taskId }]);
    const { rows } = await sql<WaitingTask>`
      select id, task_type, state, input, 0 as generation, ${AWAITED} as awaited from tasks
      where id = ${taskId} and exists (select from task_wants where task_id = tasks.id)`.execute(tx.sql);
    const [task] = rows;
    if (task && areSettled(task.awaited)) await finish(endings, tx, task);
  });
  await ending.catch((error: unknown) => {
    if (isTransient(error)) throw error;
    return failEnd(endings, new EndFailed(taskId, error));
  });
}

/** Ends a task whose end failed. A removal isn't taken back for that. */
export async function failEnd(endings: Endings, error: EndFailed): Promise<void> {
  const { taskId } = error;
  endings.log.error({ err: error, taskId }, 'the end of a task failed');
  const reason = `The task failed because of an internal error. The server's log has the details under task ${taskId}`;
  await endings.database.transaction(async (tx) => {
    const task = await lockUnended(tx, taskId);
    if (task) await failOrOutlive(endings, tx, task, reason);
  });
}

/** In a statement of its own: what the next one reads is as it is once the locks are there. */
async function lockTasks(tx: Transaction, tasks: readonly { id: string }[]): Promise<void> {
  const ids = tasks.map(({ id }) => id);
  await sql`select from tasks where id = any(${ids}::uuid[]) order by id for update`.execute(tx.sql);
}

/** Tasks that nobody ended although all that they waited for is there: their worker died in between. */
export async function readyTasks({ sql: db }: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct task_id as id from task_wants as one
    where not exists (
      select from task_wants as each join wants on wants.kind = each.kind and wants.id = each.want_id
      where each.task_id = one.task_id
        and (settled_generation is null or settled_generation < each.generation))
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * The infrastructure refused what is wanted: the task that wanted it last fails, and its wants go back to what they were.
 * A removal some of which has gone can't be taken back: it goes on. False where no task waits for it.
 */
export function refuse(endings: Endings, claim: Claim, reason: string): Promise<boolean> {
  return endings.database.transaction(async (tx) => {
    await lockTasks(tx, await waitingTasks(tx.sql, claim));
    const had = claim.settled_generation ?? 0;
    const waiting = (await waitingTasks(tx.sql, claim)).filter(
      ({ state, generation }) => isUnended(state) && generation > had,
    );
    const [newest] = waiting.toSorted((one, other) => other.generation - one.generation);
    if (!newest) return false;
    if (newest.awaited.every(({ there }) => there)) await fail(endings, tx, newest, reason);
    else await failOrOutlive(endings, tx, newest, reason);
    return true;
  });
}

/** Ends a task whose time is over. What it was to remove goes on going. False where it has ended already. */
export function expire(endings: Endings, taskId: string): Promise<boolean> {
  return endings.database.transaction(async (tx) => {
    const task = await lockUnended(tx, taskId);
    if (!task) return false;
    const doing = await doingOf(tx, taskId);
    const reason = `deadline exceeded: the task should have ended by ${task.deadline_at.toISOString()}; ${doing}`;
    await failOrOutlive(endings, tx, task, reason);
    return true;
  });
}

async function lockUnended(
  tx: Transaction,
  taskId: string,
): Promise<(WaitingTask & { deadline_at: Date }) | undefined> {
  const { rows } = await sql<WaitingTask & { deadline_at: Date }>`
    select id, task_type, state, input, deadline_at, 0 as generation, '[]'::json as awaited from tasks
    where id = ${taskId} and state in ('NEW', 'RUNNING') for update`.execute(tx.sql);
  return rows[0];
}

/** Ends a task with an ERROR. What it was to remove goes on going. */
async function failOrOutlive(
  endings: Endings,
  tx: Transaction,
  task: WaitingTask,
  reason: string,
): Promise<void> {
  const { kinds, clock, log } = endings;
  if (!kinds.get(task.task_type)?.removes) return fail(endings, tx, task, reason);
  const error = `${reason}; the removal goes on`;
  await end(tx, task.id, { state: 'ERROR', error, at: clock.now(), forget: isFollower(task) });
  log.warn({ taskId: task.id, reason }, 'a removal outlives its task');
}

/** What a task waits for, as it is now. */
const AWAITED = sql`(
  select json_agg(json_build_object('key', each.kind || ':' || want_id, 'observed', observed,
    'there', wants.id is not null, 'settled', wants.id is null or coalesce(settled_generation >= each.generation, false)))
  from task_wants as each left join wants on wants.kind = each.kind and wants.id = want_id
  where each.task_id = tasks.id)`;

/**
 * Tasks that wait for the generation, or for an earlier one, with those whose removal outlives them. Those that follow
 * another one come after it.
 */
async function waitingTasks(db: Kysely<Tables>, { kind, id, generation }: Claim): Promise<WaitingTask[]> {
  const { rows } = await sql<WaitingTask>`
    select tasks.id, task_type, state, input, task_wants.generation, ${AWAITED} as awaited
    from task_wants join tasks on tasks.id = task_id
    where task_wants.kind = ${kind} and want_id = ${id} and task_wants.generation <= ${generation}
    order by coalesce(jsonb_exists(input, 'follows'), false), tasks.id`.execute(db);
  return rows;
}

/** Whether all of it is there, `claim` apart. */
function areSettled(awaited: readonly Awaited[], claim?: Claim): boolean {
  return awaited.every(({ key, settled }) => settled || (claim && key === keyOf(claim)));
}

function seenIn(awaited: readonly Awaited[], own?: { claim: Claim; observed: object | null }): Seen {
  return (kind, id) => {
    const key = keyOf({ kind, id });
    const mine = own && keyOf(own.claim) === key;
    const seen = mine ? own.observed : awaited.find((one) => one.key === key)?.observed;
    if (!seen) throw new Error(`Nothing was seen of ${key}`);
    return seen as never;
  };
}

async function finish(
  { kinds, clock }: Endings,
  tx: Transaction,
  task: WaitingTask,
  own?: { claim: Claim; observed: object | null },
): Promise<void> {
  const kind = kinds.get(task.task_type);
  if (!kind) throw new Error(`Tasks of the type ${task.task_type} are not known to this version`);
  const resources = isFollower(task)
    ? null
    : await kind.complete(tx, { id: task.id }, task.input, seenIn(task.awaited, own));
  // It ended without its removal, which came to its end now.
  if (!isUnended(task.state)) return forgetWaiting(tx, task.id);
  await end(tx, task.id, { state: 'FINISHED', error: null, at: clock.now(), resources, forget: true });
}

async function fail(
  { kinds, clock, log }: Endings,
  tx: Transaction,
  task: WaitingTask,
  reason: string,
): Promise<void> {
  await end(tx, task.id, { state: 'ERROR', error: reason, at: clock.now(), forget: isFollower(task) });
  if (isFollower(task)) return;
  const kind = kinds.get(task.task_type);
  await tx.client.query('savepoint abandon');
  let instead: readonly Wanted[] = [];
  try {
    if (!kind) throw new Error('Nobody knows what to put back');
    instead = (await kind.abandon(tx, { id: task.id }, task.input, reason)) ?? [];
  } catch (error) {
    if (isSqlConflict(error)) throw error;
    // A task that can't be put back still has to end, or its readers wait for ever.
    await tx.client.query('rollback to savepoint abandon');
    log.error({ err: error, taskId: task.id }, 'the failed task left its rows as they were');
  }
  if (kind?.keeps) await forgetWaiting(tx, task.id);
  else await takeBack(tx, task.id);
  if (instead.length > 0) await want(tx, await placeOf(tx, task.id), instead);
  log.info({ taskId: task.id, reason }, 'task failed');
}

/** What a task wanted is wanted no more. */
async function takeBack(tx: Transaction, taskId: string): Promise<void> {
  const { rows } = await sql<{
    kind: Kind;
    id: string;
    spec: object | null;
    undo: object | null;
    generation: number;
    changed_at: number;
  }>`
    select wants.kind, wants.id, spec, undo, wants.generation, task_wants.generation as changed_at
    from task_wants join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = ${taskId} order by wants.kind, wants.id for no key update of wants`.execute(tx.sql);
  for (const { kind, id, spec, undo, generation, changed_at } of rows) {
    const back = undone(spec, undo, { wasRemoval: spec === null && generation === changed_at });
    const { after, uses } = orderOf(kind, back);
    await sql`
      update wants set spec = ${back && JSON.stringify(back)}::jsonb, generation = generation + 1,
        after = ${after}, uses = array(select distinct unnest(uses || ${uses}::text[])),
        due_at = clock_timestamp(), failures = 0, doing = null
      where kind = ${kind} and id = ${id}`.execute(tx.sql);
  }
  await forgetWaiting(tx, taskId);
  await announce(tx.client, WANTED, '');
}

async function placeOf(tx: Transaction, taskId: string): Promise<WantPlace> {
  const { rows } = await sql<WantPlace>`
    select client_id as "clientId", project_id as "projectId", region_id as "regionId" from tasks
    where id = ${taskId} and region_id is not null`.execute(tx.sql);
  const [place] = rows;
  if (!place) throw new Error(`Task ${taskId} is in no region, so that it has no infrastructure`);
  return place;
}

async function forgetWaiting(tx: Transaction, taskId: string): Promise<void> {
  await tx.sql.deleteFrom('task_wants').where('task_id', '=', taskId).execute();
}

/** In one statement: what comes after it may begin, and what it needed may go. @throws Overtaken */
async function noteSettled(
  db: Kysely<Tables>,
  workerId: string,
  claim: Claim,
  observed: object | null,
): Promise<void> {
  const { kind, id, generation, spec, handle } = claim;
  const mine = sql`kind = ${kind} and id = ${id} and worker_id = ${workerId} and generation = ${generation}`;
  const note =
    spec === null
      ? sql`delete from wants where ${mine} returning id`
      : sql`
        update wants set settled_generation = generation, observed = ${JSON.stringify(withoutSecret(observed))}::jsonb,
          handle = ${JSON.stringify(handle)}::jsonb, uses = ${orderOf(kind, spec).uses}, doing = null, failures = 0,
          due_at = null, worker_id = null
        where ${mine} returning id`;
  const { rows } = await sql`
    with former as (select uses from wants where ${mine}), settled as (${note}), next as (
      update wants set due_at = clock_timestamp()
      where after @> array[${keyOf(claim)}] and after <> '{}' and due_at is not null
        and exists (select from settled) returning id
    ), freed as (
      update wants set due_at = clock_timestamp()
      from former cross join unnest(former.uses) as used (key)
      where kind = split_part(key, ':', 1) and id = split_part(key, ':', 2)::uuid
        and spec is null and due_at is not null and exists (select from settled) returning id
    )
    select case when exists (select from next) or exists (select from freed)
      then pg_notify(${CHANNEL}, ${`${WANTED}:`}) end from settled`.execute(db);
  if (rows.length === 0) throw new Overtaken();
}

function withoutSecret(observed: object | null): object | null {
  if (observed === null) return null;
  const { secret: _, ...known } = observed as { secret?: unknown };
  return known;
}

async function doingOf(tx: Transaction, taskId: string): Promise<string> {
  const { rows } = await sql<{ kind: string; id: string; doing: string | null; worker_id: string | null }>`
    select wants.kind, wants.id, doing, worker_id
    from task_wants join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = ${taskId} and (settled_generation is null or settled_generation < task_wants.generation)
    order by doing is null, wants.kind limit 1`.execute(tx.sql);
  const [first] = rows;
  if (!first) return 'all of its work was done';
  const thing = `${first.kind.replaceAll('_', ' ')} ${first.id}`;
  if (first.doing !== null) return `${thing}: ${first.doing}`;
  return first.worker_id === null ? 'no worker was free to take it' : `${thing} gave no answer`;
}

/** The earlier task whose removal it waits for. */
async function leaderOf({ sql: db }: Database, taskId: string): Promise<string | undefined> {
  const { rows } = await sql<{ leader: string | null }>`
    select input ->> 'follows' as leader from tasks where id = ${taskId}`.execute(db);
  return rows[0]?.leader ?? undefined;
}

/** Whether it only waits for what an earlier task wants, which has what there is to do at the end. */
const isFollower = ({ input }: { input: unknown }): boolean =>
  typeof input === 'object' && input !== null && 'follows' in input;

const isUnended = (state: string): boolean => state === 'NEW' || state === 'RUNNING';

async function end(
  tx: Transaction,
  id: string,
  {
    state,
    error,
    at,
    resources = null,
    forget = false,
  }: {
    state: 'FINISHED' | 'ERROR';
    error: string | null;
    at: Date;
    resources?: object | null;
    /** What it waited for. */
    forget?: boolean;
  },
): Promise<void> {
  await sql`
    with ended as (
      update tasks set state = ${state}, error = ${error}, updated_on = ${at}, finished_on = ${at},
        created_resources = coalesce(${resources === null ? null : JSON.stringify(resources)}::jsonb, created_resources)
      where id = ${id} returning id
    ) ${forget ? sql`, forgotten as (delete from task_wants where task_id = ${id})` : sql``}
    select pg_notify(${CHANNEL}, ${`${TASK_ENDED}:`} || id) from ended`.execute(tx.sql);
}

function isSqlConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01');
}
