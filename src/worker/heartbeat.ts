import os from 'node:os';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/tables.ts';

export const BEAT_MS = 2_000;
/** Three missed beats and a little. */
const DEAD_AFTER_MS = 8_000;

/** By the database's clock: processes' own clocks may differ. */
const LIVES = sql<boolean>`beat_at >= now() - ${DEAD_AFTER_MS} * interval '1 millisecond'`;

/** Of a row that names the worker that has it. */
export const WORKER_IS_DEAD = sql<boolean>`not exists (select from workers where workers.id = worker_id and ${LIVES})`;

/** Says that a worker lives, and what its engines for AI tasks can do. */
export async function beat(db: Kysely<Tables>, id: string, capabilities: object | null): Promise<void> {
  await sql`
    insert into workers (id, host, pid, capabilities)
    values (${id}, ${os.hostname()}, ${process.pid}, ${capabilities && JSON.stringify(capabilities)}::jsonb)
    on conflict (id) do update set beat_at = now(), capabilities = coalesce(excluded.capabilities, workers.capabilities)`.execute(
    db,
  );
}

/** Of workers that can't be alive: nobody waits for their silence. What they could do stays known for its while. */
export async function declareDead(db: Kysely<Tables>, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('workers')
    .set({ beat_at: sql`least(beat_at, now() - ${DEAD_AFTER_MS + 1_000} * interval '1 millisecond')` })
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();
}

export async function livingWorkers(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db.selectFrom('workers').select('id').where(LIVES).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Of each start there is a row; those of long ago say nothing any more. */
export async function forgetOldWorkers(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom('workers').where(sql<boolean>`beat_at < now() - interval '1 hour'`).execute();
}
