import { sql } from 'kysely';
import type { WorkKind } from '../../../../engines/index.ts';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { TaskData } from '../../../db/json-columns.ts';
import { WORKER_IS_DEAD } from '../../../worker/heartbeat.ts';
import type { Status } from '../states.ts';

const CLAIM_LOCK = 0x7477_6169; // "twai"

/** A task that this worker has claimed. */
export interface Claim {
  id: string;
  clientId: number;
  data: TaskData;
  createdAt: Date;
  /** How often the task has gone to RETRY. */
  retries: number;
}

/** Only one worker at a time claims tasks, so that the counts stay correct. */
export async function lockClaims(tx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(tx.sql);
}

/** Of `ai_tasks task`: it waits for a worker, and its time has come. */
const isWaiting = (now: Date) => sql<boolean>`
  task.status in ('PENDING', 'RECEIVED', 'RETRY') and (task.retry_at is null or task.retry_at <= ${now})
  and not exists (select from ai_task_runs run where run.task_id = task.id)`;

/** Whether any task waits. Takes no lock, and spares workers with nothing to do a transaction. */
export const anyWaiting = (now: Date) => sql<boolean>`exists (select from ai_tasks task where ${isWaiting(now)})`;

/**
 * Returns the next waiting task for one of these kinds whose account is below its limit. Accounts take turns:
 * the one whose last task began longest ago is next, with its oldest task.
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
      where ${isWaiting(now)}
        and coalesce(task.task_data ->> 'category', task.task_name) = any(${[...kinds]}::text[])
        and task.id <> all(${[...except]}::uuid[])
        and task.client_id <> all(${[...exceptClients]}::bigint[])
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
  await tx.sql.insertInto('ai_task_runs').values({ task_id: id, client_id: clientId, worker_id: workerId }).execute();
}

/** Returns false if this worker no longer has the task. */
export async function deleteRun(tx: Transaction, workerId: string, taskId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql
    .deleteFrom('ai_task_runs')
    .where('task_id', '=', taskId)
    .where('worker_id', '=', workerId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the states of a worker's tasks, by id. */
export async function tasksOf(db: Sql, workerId: string): Promise<Map<string, Status>> {
  const rows = await db
    .selectFrom('ai_task_runs as run')
    .innerJoin('ai_tasks as task', 'task.id', 'run.task_id')
    .select(['task.id', 'task.status'])
    .where('run.worker_id', '=', workerId)
    .execute();
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** Removes the claims of dead workers. */
export async function buryDead(tx: Transaction): Promise<{ id: string; losses: number }[]> {
  const { rows } = await sql<{ id: string; losses: number }>`
    with lost as (delete from ai_task_runs where ${WORKER_IS_DEAD} returning task_id)
    update ai_tasks task set losses = losses + 1 from lost where task.id = lost.task_id
    returning task.id, task.losses`.execute(tx.sql);
  return rows;
}

/** Deletes some of the tasks that ended before `time`, the oldest first. Returns how many. */
export async function deleteEndedBefore(db: Sql, time: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ai_tasks where id = any(array(
      select id from ai_tasks where completed_at < ${time}
      order by completed_at limit ${limit} for update skip locked))`.execute(db);
  return Number(numAffectedRows);
}
