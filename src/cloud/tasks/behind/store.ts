import { type RawBuilder, sql } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import type { ActionResource } from '../../../lib/action-resource.ts';
import { WORKER_IS_DEAD } from '../../../worker/heartbeat.ts';

export interface NewWaiting extends Place {
  taskId: string;
  kind: string;
  args: readonly unknown[];
  about: readonly ActionResource[];
  /** The task that it waits for. */
  behind: string;
}

/** Inserts the deletion, unless the same one waits already. Returns the task of the one that waits. */
export async function insertWaiting(
  tx: Transaction,
  { taskId, kind, args, about, projectId, regionId, behind }: NewWaiting,
): Promise<string> {
  const { rows } = await sql<{ task_id: string }>`
    insert into waiting_deletions as waiting (task_id, kind, args, about, project_id, region_id, behind, due_at)
    values (${taskId}, ${kind}, ${JSON.stringify(args)}::jsonb, ${JSON.stringify(about)}::jsonb, ${projectId}, ${regionId}, ${behind}, clock_timestamp())
    on conflict (project_id, region_id, kind, md5(args::text || about::text)) do update set kind = waiting.kind
    returning task_id`.execute(tx.sql);
  return rows[0]?.task_id ?? taskId;
}

/** Returns how many deletions of the project wait. */
export async function countWaiting(tx: Transaction, projectId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from waiting_deletions where project_id = ${projectId}`.execute(tx.sql);
  return rows[0]?.count ?? 0;
}

/** Returns what a task does to what, and by when it has ended at the latest; undefined if there is none. */
export async function holder(
  tx: Transaction,
  taskId: string,
): Promise<{ task_type: string; data: object; deadline_at: Date } | undefined> {
  return tx.sql
    .selectFrom('tasks')
    .select(['task_type', 'data', 'deadline_at'])
    .where('id', '=', taskId)
    .executeTakeFirst();
}

/** A deletion that this worker has claimed, and who asked for it. */
export interface Claimed extends NewWaiting {
  args: unknown[];
  claims: number;
  clientId: number;
  userId: number;
  userClientId: number;
  requestId: string;
}

/** Whether the task has ended with all that goes on after its end. */
const hasEnded = (id: RawBuilder<unknown>) => sql`
  not exists (select from tasks where id = ${id} and state in ('NEW', 'RUNNING'))
  and not exists (select from task_wants where task_id = ${id})`;

/** Claims some of the deletions that don't have to wait any more, in the order in which they were asked for. */
export async function take(db: Sql, workerId: string, limit: number): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with free as materialized (
      select task_id from waiting_deletions
      where worker_id is null and due_at <= clock_timestamp() and ${hasEnded(sql`behind`)}
        and exists (select from tasks where id = task_id and state = 'NEW')
      order by task_id limit ${limit} for no key update skip locked
    ), taken as (
      update waiting_deletions set worker_id = ${workerId}, claims = claims + 1 from free
      where waiting_deletions.task_id = free.task_id returning waiting_deletions.*
    )
    select task_id as "taskId", kind, args, about, taken.project_id as "projectId", taken.region_id as "regionId", behind, claims,
      client_id as "clientId", user_id as "userId", user_client_id as "userClientId", coalesce(request_id, '') as "requestId"
    from taken join tasks on tasks.id = task_id order by task_id`.execute(db);
  return rows;
}

/**
 * Lets the deletion wait for that task. Others may take it from then on. Those of its kind that waited for the same as it did
 * will most likely find the same, as with the parts of a load balancer: they wait without an attempt of their own.
 */
export async function waitFor(
  db: Sql,
  workerId: string,
  { taskId, kind, behind: before }: Pick<NewWaiting, 'taskId' | 'kind' | 'behind'>,
  { behind, pauseMs }: { behind: string; pauseMs: number },
): Promise<void> {
  await sql`
    update waiting_deletions set behind = ${behind}, worker_id = null,
      due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
    where task_id = ${taskId} and worker_id = ${workerId}`.execute(db);
  if (behind === before) return;
  await sql`
    update waiting_deletions set behind = ${behind}
    where task_id in (
      select task_id from waiting_deletions
      where behind = ${before} and kind = ${kind} and worker_id is null
        and not exists (select from waiting_deletions as other where other.task_id = ${behind})
      order by task_id for no key update skip locked)`.execute(db);
}

/** Whether the other task waits for this one, perhaps by way of others. */
export async function isBehind(db: Sql, other: string, taskId: string): Promise<boolean> {
  const { rows } = await sql`
    with recursive line (id) as (
      select behind from waiting_deletions where task_id = ${other}
      union select behind from waiting_deletions join line on task_id = line.id
    ) select from line where id = ${taskId}`.execute(db);
  return rows.length > 0;
}

/** Takes the deletion out of the line. Returns the task that it waited for; undefined if it doesn't wait any more. */
export async function stopWaiting(tx: Transaction, taskId: string): Promise<string | undefined> {
  const row = await tx.sql
    .deleteFrom('waiting_deletions')
    .where('task_id', '=', taskId)
    .returning('behind')
    .executeTakeFirst();
  return row?.behind;
}

/** Returns some of the tasks that have waited for too long. */
export async function overdue(db: Sql, now: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ task_id: string }>`
    select task_id from waiting_deletions join tasks on tasks.id = task_id
    where deadline_at <= ${now} order by task_id limit ${limit}`.execute(db);
  return rows.map(({ task_id }) => task_id);
}

/** Forgets deletions whose task has been ended or dropped by somebody else. */
export async function forgetEnded(db: Sql): Promise<void> {
  await sql`
    delete from waiting_deletions where not exists (
      select from tasks where tasks.id = task_id and state in ('NEW', 'RUNNING'))`.execute(db);
}

export async function claimedBy(db: Sql, workerId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('waiting_deletions')
    .select(['task_id', 'claims'])
    .where('worker_id', '=', workerId)
    .execute();
  return new Map(rows.map(({ task_id, claims }) => [task_id, claims]));
}

export async function giveBack(db: Sql, workerId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update waiting_deletions set worker_id = null
    where worker_id = ${workerId} and task_id = any(${[...ids]}::uuid[])`.execute(db);
}

export async function takeFromDead(db: Sql): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update waiting_deletions set worker_id = null
    where worker_id is not null and ${WORKER_IS_DEAD}`.execute(db);
  return Number(numAffectedRows);
}
