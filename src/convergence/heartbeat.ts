import os from 'node:os';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

export const BEAT_MS = 2_000;
/** Three missed beats and a little. */
export const DEAD_AFTER_MS = 8_000;

/** Says that this worker lives, by the database's clock: workers' own clocks may differ. */
export async function beat({ sql: db }: Database, workerId: string): Promise<void> {
  await db
    .insertInto('worker_heartbeats')
    .values({ executor_id: workerId, host: os.hostname(), pid: process.pid })
    .onConflict((row) => row.column('executor_id').doUpdateSet({ beat_at: sql<Date>`now()` }))
    .execute();
}

export async function forget({ sql: db }: Database, workerId: string): Promise<void> {
  await db.deleteFrom('worker_heartbeats').where('executor_id', '=', workerId).execute();
}

/** For a start at which no other worker can be alive. */
export async function forgetOthers({ sql: db }: Database, workerId: string): Promise<void> {
  await db.deleteFrom('worker_heartbeats').where('executor_id', '!=', workerId).execute();
}

/** Whether a worker, in whatever process, is there to take tasks. */
export async function someWorkerLives({ sql: db }: Database): Promise<boolean> {
  const row = await db
    .selectFrom('worker_heartbeats')
    .select('executor_id')
    .where(sql<boolean>`beat_at >= now() - ${DEAD_AFTER_MS} * interval '1 millisecond'`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
