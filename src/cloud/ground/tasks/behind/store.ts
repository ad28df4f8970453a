import { type RawBuilder, sql } from 'kysely';
import type { TaskEnd } from '../../../../convergence/task-kind.ts';
import type { Place, Sql, Transaction } from '../../../../db/database.ts';
import type { ActionResource } from '../../../../lib/resources.ts';

/** From its acceptance on, however many tasks come before it. */
const LONGEST_WAIT = sql`interval '1 day'`;

export interface NewWaiting extends Place {
  taskId: string;
  kind: string;
  args: readonly unknown[];
  about: readonly ActionResource[];
  /** Names what is deleted. */
  thing: string;
  clientId: number;
  /** The task that it waits for. */
  behind: string;
}

/** Whether the task goes on. What is left of it after its end may still hold something. */
const goesOn = (id: RawBuilder<unknown>) =>
  sql`exists (select from tasks as before where before.id = ${id} and before.state in ('NEW', 'RUNNING'))`;

/** When to try a deletion that waits for the task: its end says so if it still goes on. */
const dueAfter = (id: string) => sql`case when not ${goesOn(sql`${id}::uuid`)} then clock_timestamp() end`;

/**
 * Inserts the deletion, unless one of the same thing already waits. Returns the task and arguments of the one that waits.
 * The task that it waits for must be locked.
 */
export async function insertWaiting(tx: Transaction, given: NewWaiting): Promise<{ id: string; args: unknown[] }> {
  const { taskId, kind, args, about, thing, clientId, projectId, regionId, behind } = given;
  const { rows } = await sql<{ id: string; args: unknown[] }>`
    insert into waiting_deletions as waiting
      (task_id, kind, args, about, thing, client_id, project_id, region_id, behind, due_at)
    values (${taskId}, ${kind}, ${JSON.stringify(args)}::jsonb, ${JSON.stringify(about)}::jsonb, ${thing}, ${clientId},
      ${projectId}, ${regionId}, ${behind}, ${dueAfter(behind)})
    on conflict (project_id, region_id, kind, thing) do update set kind = waiting.kind
    returning task_id as id, args`.execute(tx.sql);
  const [row] = rows;
  if (!row) throw new Error(`The waiting deletion ${taskId} was not inserted`);
  return row;
}

export async function countWaiting(
  tx: Transaction,
  { clientId, projectId }: { clientId: number; projectId: number },
): Promise<{ ofAccount: number; ofProject: number }> {
  const { rows } = await sql<{ ofAccount: number; ofProject: number }>`
    select count(*) as "ofAccount", count(*) filter (where project_id = ${projectId}) as "ofProject"
    from waiting_deletions where client_id = ${clientId}`.execute(tx.sql);
  return rows[0] ?? { ofAccount: 0, ofProject: 0 };
}

/**
 * Returns what a task does to what, and by when it has ended at the latest; undefined if there is none. It doesn't end before
 * this transaction, so that its end finds what waits for it.
 */
export async function holder(
  tx: Transaction,
  taskId: string,
): Promise<{ task_type: string; data: object; deadline_at: Date } | undefined> {
  return tx.sql
    .selectFrom('tasks')
    .select(['task_type', 'data', 'deadline_at'])
    .where('id', '=', taskId)
    .forShare()
    .executeTakeFirst();
}

/** A deletion that this worker has claimed, and who asked for it. */
export interface Claimed extends Omit<NewWaiting, 'thing'> {
  args: unknown[];
  /** Whether it was tried before, and the thing was in use. */
  inUse: boolean;
  claims: number;
  userId: number;
  userClientId: number;
  requestId: string;
}

const IS_DUE = sql`worker_id is null and due_at <= clock_timestamp()`;

/** Whether a deletion that is due may begin: also what went on after the end of the other task is over. */
const IS_FREE = sql`${IS_DUE} and not ${goesOn(sql`behind`)}
  and not exists (select from task_wants where task_wants.task_id = behind)
  and exists (select from tasks where tasks.id = waiting.task_id and state = 'NEW')`;

/** Whether any deletion may be tried. Spares workers with nothing to do the long way. */
export const ANY_DUE = sql<boolean>`exists (select from waiting_deletions where ${IS_DUE})`;
export const ANY_THERE = sql<boolean>`exists (select from waiting_deletions)`;

/**
 * Claims some of the deletions that don't have to wait any more. Accounts take turns: those of which the fewest are worked on
 * come first, in any order, each with what it asked for first.
 */
export async function take(db: Sql, workerId: string, limit: number): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with recursive accounts (client_id) as (
      select min(client_id) from waiting_deletions where ${IS_DUE}
      union all
      select (select min(client_id) from waiting_deletions where ${IS_DUE} and client_id > accounts.client_id)
      from accounts where client_id is not null
    ), turns as materialized (
      select client_id, (
        select count(*) from waiting_deletions as busy
        where busy.client_id = accounts.client_id and worker_id is not null) as in_hand
      from accounts
      where exists (select from waiting_deletions as waiting where client_id = accounts.client_id and ${IS_FREE})
      order by in_hand, random() limit ${limit}
    ), free as materialized (
      select task_id, in_hand + row_number() over (partition by client_id order by task_id) as place
      from turns cross join lateral (
        select task_id from waiting_deletions as waiting where client_id = turns.client_id and ${IS_FREE}
        order by task_id limit ${limit} for no key update of waiting skip locked) as first
    ), taken as (
      update waiting_deletions set worker_id = ${workerId}, claims = claims + 1
      from (select task_id from free order by place, random() limit ${limit}) as next
      where waiting_deletions.task_id = next.task_id returning waiting_deletions.*
    )
    select task_id as "taskId", kind, args, about, taken.client_id as "clientId", taken.project_id as "projectId",
      taken.region_id as "regionId", behind, in_use as "inUse", claims, user_id as "userId",
      user_client_id as "userClientId", coalesce(request_id, '') as "requestId"
    from taken join tasks on tasks.id = task_id order by task_id`.execute(db);
  return rows;
}

/** Lets the deletion be tried once more after a pause. Others may take it from then on. */
export async function tryAgain(
  db: Sql,
  workerId: string,
  taskId: string,
  { pauseMs, inUse }: { pauseMs: number; inUse: boolean },
): Promise<void> {
  await sql`
    update waiting_deletions set worker_id = null, in_use = ${inUse},
      due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
    where task_id = ${taskId} and worker_id = ${workerId}`.execute(db);
}

/**
 * Returns the tasks of the deletion and of those that waited for the same as it did, and are about something that it is about
 * too. They would find the same task before them, as with the parts of a load balancer.
 */
export async function alike(
  tx: Transaction,
  { taskId, behind: before, about }: Pick<NewWaiting, 'taskId' | 'behind' | 'about'>,
  behind: string,
): Promise<{ id: string }[]> {
  const { rows } = await sql<{ id: string }>`
    select task_id as id from waiting_deletions as waiting
    where task_id = ${taskId} or behind = ${before} and worker_id is null and task_id <> ${behind}
      and not exists (select from waiting_deletions as other where other.task_id = ${behind})
      and exists (
        select from jsonb_to_recordset(waiting.about) as theirs (type text, id text)
        join jsonb_to_recordset(${JSON.stringify(about)}::jsonb) as mine (type text, id text) using (type, id))`.execute(
    tx.sql,
  );
  return rows;
}

/** Lets the deletion and those like it wait for another task, which must be locked, as theirs must be. */
export async function waitFor(
  tx: Transaction,
  workerId: string,
  all: readonly { id: string }[],
  { one, behind }: { one: Pick<NewWaiting, 'taskId' | 'behind'>; behind: string },
): Promise<void> {
  await sql`
    with moved as (
      update waiting_deletions set behind = ${behind}, worker_id = null, in_use = false, due_at = ${dueAfter(behind)}
      where task_id = any(${all.map(({ id }) => id)}::uuid[])
        and (task_id = ${one.taskId} and worker_id = ${workerId} or behind = ${one.behind} and worker_id is null)
      returning task_id
    )
    update tasks set data = jsonb_set(data, '{waits_for}', to_jsonb(${behind}::text)) from moved
    where id = moved.task_id and state = 'NEW'`.execute(tx.sql);
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

/**
 * Returns some of the tasks that have waited for too long. Those whose time is over while the task before them is in time get
 * more instead: it may not be the one that they waited for at first, or may have waited itself. New tasks may always come
 * before them, so there is an end to it. Without that task, there is no more time.
 */
export async function extendOrFindOverdue(
  db: Sql,
  now: Date,
  kinds: readonly TaskEnd[],
  limit: number,
): Promise<string[]> {
  const times = kinds.map(({ type, deadlineMs }) => ({ type, deadlineMs }));
  const { rows } = await sql<{ id: string }>`
    with late as materialized (
      select mine.id, least(
        coalesce(holder.deadline_at + "deadlineMs" * interval '1 millisecond', '-infinity'),
        mine.created_on + ${LONGEST_WAIT}) as until
      from waiting_deletions as waiting join tasks as mine on mine.id = waiting.task_id
        left join tasks as holder on holder.id = behind
        left join jsonb_to_recordset(${JSON.stringify(times)}::jsonb) as own (type text, "deadlineMs" float8) on type = kind
      where mine.state = 'NEW' and mine.deadline_at <= ${now}
      order by mine.id limit ${limit} for no key update of mine skip locked
    ), more as (
      update tasks set deadline_at = until from late where tasks.id = late.id and until > ${now}
    )
    select id from late where until <= ${now}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Lets deletions be tried whose task has ended otherwise than by its end here, such as in the previous release. */
export async function noticeEnds(db: Sql): Promise<void> {
  await sql`
    with due as materialized (
      select task_id from waiting_deletions where due_at is null and not ${goesOn(sql`behind`)}
      order by task_id for no key update skip locked
    )
    update waiting_deletions set due_at = clock_timestamp() from due
    where waiting_deletions.task_id = due.task_id`.execute(db);
}

/** Forgets deletions whose task has been ended or dropped by somebody else. */
export async function forgetEnded(db: Sql): Promise<void> {
  await sql`
    with ended as materialized (
      select task_id from waiting_deletions where not ${goesOn(sql`task_id`)}
      order by task_id for update skip locked
    )
    delete from waiting_deletions using ended where waiting_deletions.task_id = ended.task_id`.execute(db);
}
