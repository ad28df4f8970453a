import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Json, Kind } from '../backends/contract/backend.ts';
import { announce } from '../db/changes.ts';
import type { Database, Transaction } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import type { Claim } from './claims.ts';
import type { Seen, TaskEnd } from './task-kind.ts';
import { undone } from './undo.ts';
import { keyOf, orderOf, WANTED } from './wants.ts';

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
}

/** What a task waits for, as it is now; `settled_generation` and the rest are null where it has gone. */
interface Awaited {
  kind: Kind;
  id: string;
  generation: number;
  settled_generation: number | null;
  there: boolean;
  observed: object | null;
}

/** Somebody else has the want by now, or something else is wanted: what was found out counts for nothing. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/*
 * Locks are taken in one order by everything here: tasks, the rows of the things, wants. Whoever accepts a request locks
 * the last two in that order too.
 */

/**
 * The want is there as wanted: notes it, and ends the tasks that waited for nothing else, all in one transaction.
 * Answers their ids. @throws Overtaken
 */
export function settle(
  endings: Endings,
  workerId: string,
  claim: Claim,
  { observed, handle }: { observed: object | null; handle: Json },
): Promise<string[]> {
  return endings.database.transaction(async (tx) => {
    const ended: string[] = [];
    for (const task of await lockWaiting(tx, claim)) {
      const awaited = await awaitedBy(tx, task.id);
      const seen = new Map(awaited.map((one) => [keyOf(one), one.observed]));
      seen.set(keyOf(claim), observed);
      const left = awaited.some((one) => keyOf(one) !== keyOf(claim) && !isSettled(one));
      if (left) continue;
      await finish(endings, tx, task, seenIn(seen));
      ended.push(task.id);
    }
    await noteSettled(tx, workerId, claim, { observed, handle });
    return ended;
  });
}

/**
 * The infrastructure refused what is wanted: the task that wanted it last fails, and its wants go back to what they were.
 * False where no task waits for it.
 */
export function refuse(endings: Endings, claim: Claim, reason: string): Promise<boolean> {
  return endings.database.transaction(async (tx) => {
    const waiting = (await lockWaiting(tx, claim)).filter(({ state }) => isUnended(state));
    const [newest] = waiting.toSorted((one, other) => other.generation - one.generation);
    if (!newest) return false;
    await fail(endings, tx, newest, reason);
    return true;
  });
}

/** Ends a task whose time is over. What it was to remove goes on going. False where it has ended already. */
export function expire(endings: Endings, taskId: string): Promise<boolean> {
  return endings.database.transaction(async (tx) => {
    const { rows } = await sql<WaitingTask & { deadline_at: Date }>`
      select id, task_type, state, input, deadline_at, 0 as generation from tasks
      where id = ${taskId} and state in ('NEW', 'RUNNING') for update`.execute(tx.sql);
    const [task] = rows;
    if (!task) return false;
    const doing = await doingOf(tx, taskId);
    const reason = `deadline exceeded: the task should have ended by ${task.deadline_at.toISOString()}; ${doing}`;
    if (!endings.kinds.get(task.task_type)?.removes) {
      await fail(endings, tx, task, reason);
      return true;
    }
    await end(tx, task.id, {
      state: 'ERROR',
      error: `${reason}; the removal goes on`,
      at: endings.clock.now(),
    });
    endings.log.warn({ taskId, reason }, 'a removal takes longer than its task may');
    return true;
  });
}

/** Tasks that wait for the generation, or for an earlier one, with those whose removal outlives them. */
async function lockWaiting(tx: Transaction, { kind, id, generation }: Claim): Promise<WaitingTask[]> {
  const { rows } = await sql<WaitingTask>`
    select tasks.id, task_type, state, input, task_wants.generation
    from task_wants join tasks on tasks.id = task_id
    where kind = ${kind} and want_id = ${id} and task_wants.generation <= ${generation}
    order by tasks.id for update of tasks`.execute(tx.sql);
  return rows;
}

async function awaitedBy(tx: Transaction, taskId: string): Promise<Awaited[]> {
  const { rows } = await sql<Awaited>`
    select task_wants.kind, want_id as id, task_wants.generation, settled_generation, observed,
      wants.id is not null as there
    from task_wants left join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = ${taskId}`.execute(tx.sql);
  return rows;
}

function isSettled({ there, settled_generation, generation }: Awaited): boolean {
  return !there || (settled_generation !== null && settled_generation >= generation);
}

function seenIn(observed: ReadonlyMap<string, object | null>): Seen {
  return (kind, id) => {
    const seen = observed.get(`${kind}:${id}`);
    if (!seen) throw new Error(`Nothing was seen of ${kind} ${id}`);
    return seen as never;
  };
}

async function finish(
  { kinds, clock }: Endings,
  tx: Transaction,
  task: WaitingTask,
  seen: Seen,
): Promise<void> {
  const kind = kinds.get(task.task_type);
  if (!kind) throw new Error(`Tasks of the type ${task.task_type} are not known to this version`);
  await forgetWaiting(tx, task.id);
  const resources = await kind.complete(tx, { id: task.id }, task.input, seen);
  // It has ended without its removal, which came to its end now.
  if (!isUnended(task.state)) return;
  await end(tx, task.id, { state: 'FINISHED', error: null, at: clock.now(), resources });
}

async function fail(
  { kinds, clock, log }: Endings,
  tx: Transaction,
  task: WaitingTask,
  reason: string,
): Promise<void> {
  await end(tx, task.id, { state: 'ERROR', error: reason, at: clock.now() });
  await tx.client.query('savepoint abandon');
  try {
    const kind = kinds.get(task.task_type);
    if (!kind) throw new Error('Nobody knows what to put back');
    await kind.abandon(tx, { id: task.id }, task.input, reason);
  } catch (error) {
    if (isSqlConflict(error)) throw error;
    // A task that can't be put back still has to end, or its readers wait for ever.
    await tx.client.query('rollback to savepoint abandon');
    log.error({ err: error, taskId: task.id }, 'the failed task left its rows as they were');
  }
  await takeBack(tx, task.id);
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

async function forgetWaiting(tx: Transaction, taskId: string): Promise<void> {
  await tx.sql.deleteFrom('task_wants').where('task_id', '=', taskId).execute();
}

async function noteSettled(
  tx: Transaction,
  workerId: string,
  { kind, id, generation, spec }: Claim,
  { observed, handle }: { observed: object | null; handle: Json },
): Promise<void> {
  const mine = sql`kind = ${kind} and id = ${id} and worker_id = ${workerId} and generation = ${generation}`;
  const { rows } =
    spec === null
      ? await sql<{ uses: string[] }>`delete from wants where ${mine} returning uses`.execute(tx.sql)
      : await sql<{ uses: string[] }>`
          with former as (select uses from wants where kind = ${kind} and id = ${id})
          update wants set settled_generation = generation, observed = ${JSON.stringify(observed)}::jsonb,
            handle = ${JSON.stringify(handle)}::jsonb, uses = ${orderOf(kind, spec).uses}, doing = null, failures = 0, due_at = null, worker_id = null
          where ${mine} returning (select uses from former) as uses`.execute(tx.sql);
  const [row] = rows;
  if (!row) throw new Overtaken();
  // Those that come after it may begin, and those that it needed may go.
  const { rows: next } = await sql`
    update wants set due_at = clock_timestamp()
    where after @> array[${`${kind}:${id}`}] and after <> '{}' and due_at is not null returning id`.execute(
    tx.sql,
  );
  const freed = row.uses.length === 0 ? [] : await wakeRemovals(tx, row.uses);
  if (next.length + freed.length > 0) await announce(tx.client, WANTED, '');
}

async function wakeRemovals(tx: Transaction, keys: string[]): Promise<unknown[]> {
  const { rows } = await sql`
    update wants set due_at = clock_timestamp()
    from unnest(${keys}::text[]) as used (key)
    where kind = split_part(key, ':', 1) and id = split_part(key, ':', 2)::uuid
      and spec is null and due_at is not null
    returning id`.execute(tx.sql);
  return rows;
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

const isUnended = (state: string): boolean => state === 'NEW' || state === 'RUNNING';

async function end(
  tx: Transaction,
  id: string,
  {
    state,
    error,
    at,
    resources = null,
  }: { state: 'FINISHED' | 'ERROR'; error: string | null; at: Date; resources?: object | null },
): Promise<void> {
  await sql`
    update tasks set state = ${state}, error = ${error}, updated_on = ${at}, finished_on = ${at},
      created_resources = coalesce(${resources === null ? null : JSON.stringify(resources)}::jsonb, created_resources)
    where id = ${id}`.execute(tx.sql);
  await announce(tx.client, TASK_ENDED, id);
}

function isSqlConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01');
}
