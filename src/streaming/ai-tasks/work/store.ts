import os from 'node:os';
import { type Kysely, sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import type { AiCapabilities, WorkKind } from '../capabilities.ts';
import { type Status, UNFINISHED } from '../states.ts';
import type { TaskData } from '../task-data.ts';

const CLAIM_LOCK = 0x7477_6169; // "twai"
/** Four missed beats. */
const DEAD_AFTER_SECONDS = 8;
const FORGET_WORKERS_AFTER_SECONDS = 3_600;

/** A task in this worker's hands. */
export interface Claim {
  id: string;
  clientId: number;
  data: TaskData;
  createdAt: Date;
  /** How often it has gone to RETRY. */
  retries: number;
}

/** Says that a worker lives and what it can do, by the database's clock: processes' own clocks may differ. */
export async function beat(
  db: Kysely<Tables>,
  workerId: string,
  capabilities: AiCapabilities,
): Promise<void> {
  await db
    .insertInto('ai_workers')
    .values({
      id: workerId,
      host: os.hostname(),
      pid: process.pid,
      capabilities: JSON.stringify(capabilities),
    })
    .onConflict((row) => row.column('id').doUpdateSet({ beat_at: sql<Date>`now()` }))
    .execute();
}

/** Of workers that can't be alive: nobody waits for their silence. What they could do stays known for its while. */
export async function declareDead(
  db: Kysely<Tables>,
  workers: { ids: readonly string[] } | { allBut: string },
): Promise<void> {
  const silent = db
    .updateTable('ai_workers')
    .set({ beat_at: sql`least(beat_at, now() - ${DEAD_AFTER_SECONDS + 1} * interval '1 second')` });
  const those =
    'ids' in workers
      ? silent.where('id', '=', sql<string>`any(${[...workers.ids]}::uuid[])`)
      : silent.where('id', '!=', workers.allBut);
  await those.execute();
}

/** One worker at a time takes or takes over tasks, so that what they count stays true. */
export async function lockClaims(tx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(tx.sql);
}

/**
 * The next task that waits for one of these kinds of work and whose account has a place free. Accounts take turns: the
 * one whose last task began longest ago has the next, and gets its oldest.
 */
export async function nextWaiting(
  tx: Transaction,
  {
    kinds,
    perClient,
    except,
    exceptClients,
    now,
  }: {
    kinds: readonly WorkKind[];
    perClient: number;
    except: readonly string[];
    exceptClients: readonly number[];
    now: Date;
  },
): Promise<Claim | undefined> {
  const { rows } = await sql<Claim>`
    with first as materialized (
      select distinct on (task.client_id) task.id, task.client_id, task.created_at
      from ai_tasks task
      where task.status in ('PENDING', 'RECEIVED', 'RETRY')
        and (task.retry_at is null or task.retry_at <= ${now})
        and coalesce(task.task_data ->> 'category', task.task_name) = any(${[...kinds]}::text[])
        and task.id <> all(${[...except]}::uuid[])
        and task.client_id <> all(${[...exceptClients]}::bigint[])
        and task.client_id <> all(${[...exceptClients]}::bigint[])
        and not exists (select from ai_task_runs run where run.task_id = task.id)
        and (select count(*) from ai_task_runs run where run.client_id = task.client_id) < ${perClient}
      order by task.client_id, task.created_at, task.id),
    next as (
      select first.id from first left join lateral (
        select started_at from ai_tasks task
        where task.client_id = first.client_id and task.started_at is not null
        order by started_at desc limit 1) turn on true
      order by turn.started_at nulls first, first.created_at, first.id
      limit 1)
    select task.id, task.client_id as "clientId", task.task_data as data, task.created_at as "createdAt", task.retries
    from ai_tasks task join next using (id)
    where task.status in ('PENDING', 'RECEIVED', 'RETRY')
    for update of task skip locked`.execute(tx.sql);
  return rows[0];
}

export async function insertRun(tx: Transaction, workerId: string, { id, clientId }: Claim): Promise<void> {
  await tx.sql
    .insertInto('ai_task_runs')
    .values({ task_id: id, client_id: clientId, worker_id: workerId })
    .execute();
}

/** False when the task isn't in this worker's hands any more. */
export async function deleteRun(tx: Transaction, workerId: string, taskId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql
    .deleteFrom('ai_task_runs')
    .where('task_id', '=', taskId)
    .where('worker_id', '=', workerId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The tasks in a worker's hands, and whether they are still to be worked on. */
export async function tasksOf(
  db: Kysely<Tables>,
  workerId: string,
): Promise<{ id: string; unfinished: boolean }[]> {
  const rows = await db
    .selectFrom('ai_task_runs as run')
    .innerJoin('ai_tasks as task', 'task.id', 'run.task_id')
    .select(['task.id', 'task.status'])
    .where('run.worker_id', '=', workerId)
    .execute();
  return rows.map(({ id, status }) => ({ id, unfinished: UNFINISHED.includes(status) }));
}

/** Takes the tasks of dead workers out of their hands. */
export async function buryDead(
  tx: Transaction,
): Promise<{ id: string; status: Status; losses: number; workerId: string }[]> {
  const { rows } = await sql<{ id: string; status: Status; losses: number; workerId: string }>`
    with lost as (
      delete from ai_task_runs run where not exists (
        select from ai_workers worker where worker.id = run.worker_id
          and worker.beat_at >= now() - ${DEAD_AFTER_SECONDS} * interval '1 second')
      returning task_id, worker_id)
    update ai_tasks task set losses = losses + 1 from lost where task.id = lost.task_id
    returning task.id, task.status, task.losses, lost.worker_id as "workerId"`.execute(tx.sql);
  return rows;
}

/** Of each start there is a row; those of long ago say nothing any more. */
export async function forgetOldWorkers(db: Kysely<Tables>): Promise<void> {
  await db
    .deleteFrom('ai_workers')
    .where(sql<boolean>`beat_at < now() - ${FORGET_WORKERS_AFTER_SECONDS} * interval '1 second'`)
    .execute();
}

/** Workers whose tasks and folders are theirs; any other is dead. */
export async function livingWorkers(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db
    .selectFrom('ai_workers')
    .select('id')
    .where(sql<boolean>`beat_at >= now() - ${DEAD_AFTER_SECONDS} * interval '1 second'`)
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** Deletes some of the tasks that ended before, the oldest first. Answers how many. */
export async function deleteEndedBefore(db: Kysely<Tables>, time: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ai_tasks where id = any(array(
      select id from ai_tasks where completed_at < ${time}
      order by completed_at limit ${limit} for update skip locked))`.execute(db);
  return Number(numAffectedRows);
}
