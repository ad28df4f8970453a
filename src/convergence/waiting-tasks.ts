import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { CHANNEL } from '../db/changes.ts';
import type { Database, Transaction } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Clock } from '../lib/clock.ts';
import type { TaskEnd } from './task-kind.ts';
import type { Name } from './wants.ts';

/** The topic under which whoever waits for a task hears that it has ended; the key is its id. */
export const TASK_ENDED = 'task-ended';

/** What ends tasks. */
export interface Endings {
  database: Database;
  clock: Clock;
  log: Logger;
  kinds: ReadonlyMap<string, TaskEnd>;
}

export interface WaitingTask {
  id: string;
  task_type: string;
  state: string;
  input: unknown;
}

/** A task that can be ended, with what was noted of all that it waited for. */
export interface ReadyTask extends WaitingTask {
  seen: { kind: string; id: string; observed: object | null }[];
}

/** A task that waits for one want, maybe among others. */
export interface WaitingForWant extends WaitingTask {
  /** Of the want. */
  generation: number;
  /** Whether all else that it waits for is there as wanted. */
  others_settled: boolean;
}

/*
 * Locks are taken in one order by everything that ends tasks: tasks, the rows of the things, wants. Whoever accepts a
 * request locks the last two in that order too.
 */

/** In a statement of its own: what the next one reads is as it is once the locks are there. */
export async function lockTasks(tx: Transaction, tasks: readonly { id: string }[]): Promise<void> {
  const ids = tasks.map(({ id }) => id);
  await sql`select from tasks where id = any(${ids}::uuid[]) order by id for update`.execute(tx.sql);
}

/** Of the task `tasks.id`: what isn't there yet as wanted. What is wanted no more has gone. */
export const UNSETTLED = sql`select from task_wants as each
  join wants on wants.kind = each.kind and wants.id = each.want_id
  where each.task_id = tasks.id and (settled_generation is null or settled_generation < each.generation)`;

/** Of the task `tasks.id`. */
export const SEEN = sql`(
  select jsonb_agg(jsonb_build_object('kind', each.kind, 'id', each.want_id, 'observed', observed))
  from task_wants as each left join wants on wants.kind = each.kind and wants.id = each.want_id
  where each.task_id = tasks.id) as seen`;

const order = (one: WaitingTask, other: WaitingTask) =>
  Number(isFollower(one)) - Number(isFollower(other)) || (one.id < other.id ? -1 : 1);

/** Locks those of the tasks that still wait for the want, and for nothing else. */
export async function lockReady(
  tx: Transaction,
  { kind, id, generation }: Name & { generation: number },
  tasks: readonly { id: string }[],
): Promise<ReadyTask[]> {
  const ids = tasks.map((task) => task.id);
  // What was ended while this waited for its lock is in `task_wants` no more, so that it drops out.
  const { rows } = await sql<ReadyTask>`
    select tasks.id, task_type, state, input, ${SEEN}
    from task_wants join tasks on tasks.id = task_id
    where tasks.id = any(${ids}::uuid[]) and task_wants.kind = ${kind} and want_id = ${id}
      and task_wants.generation <= ${generation} and ${othersSettled({ kind, id })}
    order by tasks.id for update of tasks, task_wants`.execute(tx.sql);
  return rows.toSorted(order);
}

const othersSettled = ({ kind, id }: Name) =>
  sql<boolean>`not exists (${UNSETTLED} and (each.kind, each.want_id) <> (${kind}, ${id}::uuid))`;

/**
 * Tasks that wait for the generation, or for an earlier one, with those whose removal outlives them. Those that follow
 * another one come after it.
 */
export async function waitingTasks(
  db: Kysely<Tables>,
  { kind, id, generation }: Name & { generation: number },
): Promise<WaitingForWant[]> {
  const { rows } = await sql<WaitingForWant>`
    select tasks.id, task_type, state, input, task_wants.generation,
      ${othersSettled({ kind, id })} as others_settled
    from task_wants join tasks on tasks.id = task_id
    where task_wants.kind = ${kind} and want_id = ${id} and task_wants.generation <= ${generation}`.execute(
    db,
  );
  return rows.toSorted(order);
}

export async function forgetWaiting(tx: Transaction, taskId: string): Promise<void> {
  await tx.sql.deleteFrom('task_wants').where('task_id', '=', taskId).execute();
}

/** Whether it only waits for what an earlier task wants, which has what there is to do at the end. */
export const isFollower = ({ input }: Pick<WaitingTask, 'input'>): boolean =>
  typeof input === 'object' && input !== null && 'follows' in input;

export const isUnended = ({ state }: Pick<WaitingTask, 'state'>): boolean =>
  state === 'NEW' || state === 'RUNNING';

export async function endTask(
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
    /** What it waited for. */
    forget: boolean;
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
