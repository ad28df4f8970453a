import { sql } from 'kysely';
import type { Database, Sql, Transaction } from '../../../db/database.ts';
import type { DeletionStep } from '../../../db/json-columns.ts';
import type { Clock } from '../../../lib/time.ts';
import { KINDS, type Kind, kindOf } from './kinds.ts';

/** Things of a kind that are looked at together. */
const BATCH = 50;

/** A deletion that this worker has claimed, and who asked for it. */
export interface Claimed {
  taskId: string;
  clientId: number;
  projectId: number | null;
  claims: number;
  /** As they were noted last. */
  steps: DeletionStep[];
  userId: number;
  userClientId: number;
  requestId: string;
}

const IS_FREE = sql<boolean>`ended_at is null and worker_id is null`;
export const ANY_FREE = sql<boolean>`exists (select from deletions where ${IS_FREE})`;

/** Claims some of the deletions that nobody works on, the oldest first. */
export async function take(db: Sql, workerId: string, limit: number): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with free as materialized (
      select task_id from deletions where ${IS_FREE}
      order by begun_at limit ${limit} for no key update skip locked
    ), taken as (
      update deletions set worker_id = ${workerId}, claims = claims + 1 from free
      where deletions.task_id = free.task_id returning deletions.*
    )
    select task_id as "taskId", taken.client_id as "clientId", taken.project_id as "projectId",
      claims, steps, user_id as "userId", user_client_id as "userClientId",
      coalesce(request_id, '') as "requestId"
    from taken join tasks on tasks.id = task_id`.execute(db);
  return rows;
}

export async function noteSteps(db: Sql, taskId: string, steps: readonly DeletionStep[]): Promise<void> {
  await db
    .updateTable('deletions')
    .set({ steps: JSON.stringify(steps) })
    .where('task_id', '=', taskId)
    .execute();
}

/** Whether the deletion has not ended. It stays so until the transaction ends. */
export async function lockOpen(tx: Transaction, taskId: string): Promise<boolean> {
  const row = await tx.sql
    .selectFrom('deletions')
    .select('task_id')
    .where('task_id', '=', taskId)
    .where('ended_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether an account has anything that goes with it. */
export async function holdsSomething(tx: Transaction, clientId: number): Promise<boolean> {
  const kept = ['projects', 'ai_tasks', 'webhooks', 'client_users', 'login_sessions', 'deletion_requests'].map(
    (table) => sql`exists (select from ${sql.table(table)} where client_id = ${clientId})`,
  );
  const { rows } = await sql<{ held: boolean }>`
    select ${sql.join(kept, sql` or `)} or exists (
      select from api_tokens where client_id = ${clientId} and deleted_at is null
    ) as held`.execute(tx.sql);
  return rows[0]?.held === true;
}

const KEPT_MS = 24 * 3_600_000;

/** Deletes what ended a day ago. */
export async function forgetOldDeletions({ sql: db }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_MS);
  await db.deleteFrom('deletions').where('ended_at', '<', before).execute();
}

/** Something that is left in a project. */
export interface Left {
  kind: string;
  key: string;
  regionId: number | null;
  /** Who alone may delete it. */
  userId: number | null;
}

/** Returns what is left in a project: of each kind how many there are, and some that no task holds. */
export async function leftIn(db: Sql, projectId: number): Promise<{ counts: Map<string, number>; free: Left[] }> {
  const counting = KINDS.map(
    (one) => sql`select ${one.kind}::text as kind, count(*)::int as count from ${rowsOf(one, projectId)}`,
  );
  const counts = await sql<{ kind: string; count: number }>`${sql.join(counting, sql` union all `)}`.execute(db);
  const stage = Math.min(...counts.rows.flatMap(({ kind, count }) => (count === 0 ? [] : [kindOf(kind).stage])));
  const now = KINDS.filter((one) => one.stage === stage);
  const known = new Map(counts.rows.map(({ kind, count }) => [kind, count]));
  if (now.length === 0) return { counts: known, free: [] };
  // In any order, so that those that can't go don't hold up the others.
  const looking = now.map(
    (one) => sql`(
      select ${one.kind}::text as kind, ${sql.raw(one.key)}::text as key,
        ${sql.raw(one.region)}::bigint as "regionId", ${sql.raw(one.user)}::bigint as "userId"
      from ${rowsOf(one, projectId)} and not (${sql.raw(one.held)})
      order by random() limit ${BATCH})`,
  );
  const { rows: free } = await sql<Left>`${sql.join(looking, sql` union all `)}`.execute(db);
  return { counts: known, free };
}

const rowsOf = ({ rows, own }: Kind, projectId: number) =>
  sql`${sql.raw(rows)} where project_id = ${projectId} and ${sql.raw(own)}`;

/** Returns some projects of an account that are still there, the default one last. */
export async function projectsOf(db: Sql, clientId: number, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('projects')
    .select('id')
    .where('client_id', '=', clientId)
    .orderBy('is_default')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
