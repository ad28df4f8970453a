import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Kind } from '../backends/contract/backend.ts';
import type { Database, Sql, Transaction } from '../db/database.ts';
import { compiledQuery } from '../db/statements.ts';
import type { Clock } from '../lib/time.ts';
import type { Measures } from './measures.ts';
import type { Notices, TaskEnd } from './task-kind.ts';
import type { WorkTraces } from './traces.ts';
import type { Name } from './wants.ts';

/** The topic that announces the end of a task; the key is the task's id. */
export const TASK_ENDED = 'task-ended';

/** The topic that tells workers that a deletion need not wait any more. */
export const WAITING = 'waiting-deletions';

/** What is needed to end tasks. */
export interface Endings {
  database: Database;
  clock: Clock;
  log: Logger;
  taskEnds: ReadonlyMap<string, TaskEnd>;
  notices?: Notices;
  measures?: Measures | undefined;
  traces?: WorkTraces | undefined;
}

export interface WaitingTask {
  id: string;
  task_type: string;
  state: string;
  input: unknown;
}

/** A task that can be ended, with the observations of everything that it waited for. */
export interface ReadyTask extends WaitingTask {
  seen: { kind: Kind; id: string; observed: object | null; generation: number | null }[];
}

/** A task that waits for a want, perhaps among others. */
export interface WaitingForWant extends WaitingTask {
  /** The want's generation that the task waits for. */
  generation: number;
  /** Whether everything else that the task waits for is as wanted. */
  others_settled: boolean;
}

/*
 * Whatever ends tasks takes locks in one order: tasks, rows of the things, wants. Requests lock the last two
 * in that order too.
 */

/** A separate statement, so that the next one reads the state after the locks were taken. */
export async function lockTasks(tx: Transaction, tasks: readonly { id: string }[]): Promise<void> {
  const ids = tasks.map(({ id }) => id);
  await sql`select from tasks where id = any(${ids}::uuid[]) order by id for update`.execute(tx.sql);
}

/** The wants of the task `tasks.id` that are not settled yet. A thing without a want has been removed. */
export const UNSETTLED = sql`select from task_wants as each
  join wants on wants.kind = each.kind and wants.id = each.want_id
  where each.task_id = tasks.id and (settled_generation is null or settled_generation < each.generation)`;

/** The observations for the task `tasks.id`. */
export const SEEN = sql`(
  select jsonb_agg(jsonb_build_object('kind', each.kind, 'id', each.want_id, 'observed', observed,
    'generation', settled_generation))
  from task_wants as each left join wants on wants.kind = each.kind and wants.id = each.want_id
  where each.task_id = tasks.id) as seen`;

const order = (one: WaitingTask, other: WaitingTask) =>
  Number(isFollower(one)) - Number(isFollower(other)) || (one.id < other.id ? -1 : 1);

type Generation = Name & { generation: number };

/** Locks the tasks that wait for this generation of the want or an earlier one, and for nothing else. */
export async function lockReady(tx: Transaction, { kind, id, generation }: Generation): Promise<ReadyTask[]> {
  return (await lockThose(tx.sql, { kind, id, generation })).toSorted(order);
}
// A task that ended while this waited for its lock has no rows in `task_wants` any more, so it drops out.
const lockThose = compiledQuery((db, name: Generation) =>
  sql<ReadyTask>`
    select tasks.id, task_type, state, input, ${SEEN}
    from task_wants join tasks on tasks.id = task_id
    where ${isAwaited(name)} and ${othersSettled(name)}
    order by tasks.id for update of tasks, task_wants`.compile(db),
);

const isAwaited = ({ kind, id, generation }: Generation) =>
  sql`task_wants.kind = ${kind} and want_id = ${id} and task_wants.generation <= ${generation}`;

const othersSettled = ({ kind, id }: Name) =>
  sql<boolean>`not exists (${UNSETTLED} and (each.kind, each.want_id) <> (${kind}, ${id}::uuid))`;

/**
 * Returns the tasks that wait for this generation or an earlier one, including ended tasks whose removal goes
 * on. Followers come after the task that they follow.
 */
export async function waitingTasks(db: Sql, { kind, id, generation }: Generation): Promise<WaitingForWant[]> {
  return (await waiting(db, { kind, id, generation })).toSorted(order);
}
const waiting = compiledQuery((db, name: Generation) =>
  sql<WaitingForWant>`
    select tasks.id, task_type, state, input, task_wants.generation, ${othersSettled(name)} as others_settled
    from task_wants join tasks on tasks.id = task_id where ${isAwaited(name)}`.compile(db),
);

export async function forgetWaiting(tx: Transaction, taskId: string): Promise<void> {
  await tx.sql.deleteFrom('task_wants').where('task_id', '=', taskId).execute();
}

/** Whether the task only waits for what an earlier task wants. The earlier one does the work at the end. */
export const isFollower = ({ input }: Pick<WaitingTask, 'input'>): boolean =>
  typeof input === 'object' && input !== null && 'follows' in input;

export const isUnended = ({ state }: Pick<WaitingTask, 'state'>): boolean => state === 'NEW' || state === 'RUNNING';

/** Ends a task that is locked, and lets the deletions that wait for it be tried. */
export function endTask(
  { measures, traces }: Pick<Endings, 'measures' | 'traces'>,
  tx: Transaction,
  id: string,
  {
    state,
    error,
    at,
    resources = null,
    forget,
  }: {
    state: 'FINISHED' | 'ERROR';
    error: string | null;
    at: Date;
    resources?: object | null;
    /** Whether to delete the task's rows of what it waited for. */
    forget: boolean;
  },
): void {
  const made = resources === null ? null : JSON.stringify(resources);
  tx.send(end, { id, state, error, at, made, forget }, ([ended]) => {
    if (!ended) return;
    tx.announce(TASK_ENDED, id);
    if (ended.frees) tx.announce(WAITING);
    tx.afterCommit(() => {
      measures?.ended({ type: ended.type, state, seconds: ended.seconds });
      traces?.ended({ ...ended, id, state, error });
    });
  });
}

interface End {
  id: string;
  state: string;
  error: string | null;
  at: Date;
  /** JSON. */
  made: string | null;
  forget: boolean;
}
const end = compiledQuery((db, { id, state, error, at, made, forget }: End) =>
  sql<{ type: string; request_id: string | null; seconds: number; frees: boolean }>`
    with ended as (
      update tasks set state = ${state}, error = ${error}, updated_on = ${at}, finished_on = ${at},
        created_resources = coalesce(${made}::jsonb, created_resources)
      where id = ${id} returning id, task_type, request_id, created_on
    ), due as (
      update waiting_deletions set due_at = clock_timestamp() where behind = ${id} and due_at is null returning task_id
    ), forgotten as (delete from task_wants where task_id = ${id} and ${forget}::boolean)
    select task_type as type, request_id, extract(epoch from ${at}::timestamptz - created_on)::float8 as seconds,
      exists (select from due) as frees
    from ended`.compile(db),
);
