import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { adoptTasks } from './adoption/tasks.ts';
import { adoptThings } from './adoption/things.ts';

/** Longer than the interval between two heartbeats of the earlier release. */
const BEAT_MS = 3_000;

/**
 * Turns what earlier releases made into wants, continues their tasks, and drops the tables that only they
 * needed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const old = await sql`select where to_regnamespace('dbos') is not null`.execute(db);
  if (old.rows.length > 0) await refuseLivingWorkers(db);
  const { rows } = await sql`select from projects limit 1`.execute(db);
  if (rows.length > 0) {
    // The planner overestimates the cost of these statements, and would compile them for longer than they
    // run.
    await sql`set local jit = off`.execute(db);
    // In a large database, each statement takes minutes.
    await sql`set local statement_timeout = 0`.execute(db);
    await adoptThings(db);
    await adoptTasks(db);
  }
  await sql`drop table if exists simulated_resources, simulated_cluster_operations, simulated_clusters`.execute(db);
  await sql`drop schema if exists dbos cascade`.execute(db);
}

/** Workers that still run would continue with what is taken over. */
export async function refuseLivingWorkers(db: Kysely<unknown>): Promise<void> {
  const beats = async () => {
    const { rows } = await sql<{ worker: string; beat: string }>`
      select host || ' (process ' || pid || ')' as worker, max(beat_at)::text as beat from worker_heartbeats
      where beat_at > clock_timestamp() - ${BEAT_MS} * interval '1 millisecond'
      group by worker`.execute(db);
    return rows;
  };
  const before = await beats();
  if (before.length === 0) return;
  await delay(BEAT_MS);
  const living = (await beats()).filter(({ beat }) => before.every((one) => one.beat !== beat));
  if (living.length === 0) return;
  const workers = living.map(({ worker }) => worker).join(', ');
  throw new Error(
    `workers of the earlier release are running on ${workers}. Stop all of its processes, then start this release`,
  );
}
