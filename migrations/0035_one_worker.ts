import { type Kysely, sql } from 'kysely';
import { refuseLivingWorkers } from './0034_adopted_infrastructure.ts';

/**
 * One worker in each process takes all kinds of work. Claims of earlier workers are taken over as those of
 * dead ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await refuseLivingWorkers(db);
  await sql`drop table worker_heartbeats`.execute(db);
  await sql`alter table ai_workers rename to workers`.execute(db);
  await sql`alter index ai_workers_pkey rename to workers_pkey`.execute(db);
  // Null for a worker that takes no AI tasks.
  await sql`alter table workers alter column capabilities drop not null`.execute(db);
}
