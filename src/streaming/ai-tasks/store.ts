import { type Selectable, sql } from 'kysely';
import type { AiCapabilities } from '../../../engines/index.ts';
import type { Database, Sql, Transaction } from '../../db/database.ts';
import type { TaskData } from '../../db/json-columns.ts';
import type { Tables } from '../../db/tables.ts';
import type { Clock } from '../../lib/time.ts';
import { searchText } from './page.ts';
import { MAX_RETRIES, type Status, sourcesOf, UNFINISHED } from './states.ts';
import { deleteEndedBefore } from './work/store.ts';

export type AiTaskRow = Omit<Selectable<Tables['ai_tasks']>, 'search_text' | 'retry_at' | 'losses'>;

/** A step of a task, with its data. */
export type Step =
  | { to: 'RECEIVED' | 'PENDING' | 'STARTED' | 'REVOKED' }
  | { to: 'RETRY'; at?: Date }
  | { to: 'SUCCESS'; result: object; frameRate?: number | undefined }
  | { to: 'FAILURE'; result: { error: string } };

/** The topic that tells workers of new tasks and, with an id, of a cancelled one. */
export const AI_TASKS = 'ai-tasks';

/** How long a silent worker's capabilities still count: its tasks must not be refused during a restart. */
const REMEMBERED_SECONDS = 60;

const COLUMNS = [
  'id',
  'client_id',
  'task_name',
  'status',
  'progress',
  'retries',
  'task_data',
  'result',
  'frame_rate',
  'created_at',
  'created_day',
  'started_at',
  'completed_at',
] as const;

/** Lets one transaction per client create a task at a time, so that the queue can be counted, and its features stay. */
export async function lockAccount(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.selectFrom('clients').select('id').where('id', '=', clientId).forNoKeyUpdate().execute();
}

/** Counts a client's unfinished tasks, up to `limit`. */
export async function countUnfinished(tx: Transaction, clientId: number, limit: number): Promise<number> {
  const rows = await tx.sql
    .selectFrom('ai_tasks')
    .select('id')
    .where('client_id', '=', clientId)
    .where('status', 'in', UNFINISHED)
    .limit(limit)
    .execute();
  return rows.length;
}

export async function insertTask(tx: Transaction, { id, data, now }: { id: string; data: TaskData; now: Date }) {
  await tx.sql
    .insertInto('ai_tasks')
    .values({
      id,
      client_id: data.client_id,
      task_name: data.task_name,
      status: 'PENDING',
      task_data: JSON.stringify(data),
      search_text: searchText(id, data),
      created_at: now,
    })
    .execute();
}

export async function findTask(db: Sql, id: string): Promise<AiTaskRow | undefined> {
  return db.selectFrom('ai_tasks').select(COLUMNS).where('id', '=', id).executeTakeFirst();
}

/**
 * Takes a task to its next state, if its current one allows that (states.ts) and retries are left. Otherwise
 * changes nothing and returns undefined.
 */
export async function takeStep(db: Sql, id: string, step: Step, now: Date) {
  let update = db
    .updateTable('ai_tasks')
    .set({ status: step.to })
    .where('id', '=', id)
    .where('status', 'in', sourcesOf(step.to))
    .returning(COLUMNS);
  if (step.to === 'STARTED') update = update.set({ started_at: sql`coalesce(started_at, ${now})` });
  if (step.to === 'RETRY') {
    update = update.set({ retries: sql`retries + 1`, retry_at: step.at ?? null }).where('retries', '<', MAX_RETRIES);
  }
  if (isFinal(step.to)) update = update.set({ completed_at: now });
  if ('result' in step) update = update.set({ result: JSON.stringify(step.result) });
  if (step.to === 'SUCCESS') update = update.set({ progress: 100, frame_rate: step.frameRate ?? null });
  return update.executeTakeFirst();
}

/**
 * Records the progress of started work in percent; never backwards. Returns false if the task isn't being worked on.
 */
export async function noteProgress(db: Sql, id: string, percent: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('ai_tasks')
    .set({ progress: sql`greatest(progress, ${percent})` })
    .where('id', '=', id)
    .where('status', '=', 'STARTED')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Returns the capabilities of all processes that work on AI tasks. */
export async function readCapabilities(db: Sql): Promise<AiCapabilities[]> {
  const { rows } = await sql<{ capabilities: AiCapabilities }>`
    select distinct capabilities from workers
    where capabilities is not null and beat_at > now() - ${REMEMBERED_SECONDS} * interval '1 second'`.execute(db);
  return rows.map(({ capabilities }) => capabilities);
}

/** Returns figures of the queue of all accounts. */
export async function queueFigures(db: Sql): Promise<{
  waiting: { status: Status; count: number }[];
  oldestSeconds: number;
  running: number;
}> {
  const { rows } = await sql<{ status: Status; count: number; oldest: number }>`
    select status, count(*) as count, extract(epoch from now() - min(created_at))::float8 as oldest
    from ai_tasks where status in ('PENDING', 'RECEIVED', 'RETRY') group by status`.execute(db);
  const { running } = await db
    .selectFrom('ai_task_runs')
    .select(({ fn }) => fn.countAll<number>().as('running'))
    .executeTakeFirstOrThrow();
  return { waiting: rows, oldestSeconds: Math.max(0, ...rows.map(({ oldest }) => oldest)), running };
}

/** Deletes some of the changes that no remembered count needs any more (page.ts). */
export async function forgetOldChanges(tx: Transaction): Promise<void> {
  await sql`
    delete from ai_task_changes where ctid = any(array(
      select ctid from ai_task_changes where noted_at < now() - interval '1 hour'
      limit 100 for update skip locked))`.execute(tx.sql);
}

function isFinal(status: Status): boolean {
  return !UNFINISHED.includes(status);
}

/** How long an ended task and its result are kept: a month, as published. */
export const KEPT_DAYS = 30;
const BATCH = 1_000;
const DAY_MS = 86_400_000;

/**
 * Deletes tasks that ended long ago, in bounded batches. Each batch invalidates the remembered counts of its
 * accounts, so that batches should be few and rare. Returns how many were deleted.
 */
export async function deleteOldTasks(database: Database, clock: Clock): Promise<number> {
  const time = new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
  let deleted = 0;
  for (;;) {
    const some = await deleteEndedBefore(database.sql, time, BATCH);
    deleted += some;
    if (some < BATCH) return deleted;
  }
}
