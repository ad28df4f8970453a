import os from 'node:os';
import { sql } from 'kysely';
import type { Sql } from '../db/database.ts';

export const BEAT_MS = 2_000;
/** Three missed beats and a little more. */
const DEAD_AFTER_MS = 8_000;

/** By the database's clock, since the clocks of processes may differ. */
export const LIVES = sql<boolean>`beat_at >= now() - ${DEAD_AFTER_MS} * interval '1 millisecond'`;

/** For rows that name the worker that claimed them. */
export const WORKER_IS_DEAD = sql<boolean>`not exists (select from workers where workers.id = worker_id and ${LIVES})`;

/** Records that a worker is alive, what its engines for AI tasks can do, and the regions that it is bound to. */
export async function beat(
  db: Sql,
  id: string,
  { capabilities, regions = null }: { capabilities: object | null; regions?: readonly number[] | null | undefined },
): Promise<void> {
  await sql`
    insert into workers (id, host, pid, capabilities, regions)
    values (${id}, ${os.hostname()}, ${process.pid}, ${capabilities && JSON.stringify(capabilities)}::jsonb,
      ${regions}::bigint[])
    on conflict (id) do update set beat_at = now(), capabilities = coalesce(excluded.capabilities, workers.capabilities)`.execute(
    db,
  );
}

/**
 * Declares workers dead that can't be alive, so that nobody waits for their heartbeat to get old. Their
 * capabilities stay known for a while.
 */
export async function declareDead(db: Sql, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('workers')
    .set({ beat_at: sql`least(beat_at, now() - ${DEAD_AFTER_MS + 1_000} * interval '1 millisecond')` })
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();
}

export async function livingWorkers(db: Sql): Promise<Set<string>> {
  const rows = await db.selectFrom('workers').select('id').where(LIVES).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Every start adds a row; old rows are of no use. */
export async function forgetOldWorkers(db: Sql): Promise<void> {
  await db.deleteFrom('workers').where(sql<boolean>`beat_at < now() - interval '1 hour'`).execute();
}
