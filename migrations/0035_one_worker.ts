import { type Kysely, sql } from 'kysely';
import { refuseLivingWorkers } from './0034_adopted_infrastructure.ts';

/** One worker in each process takes all sorts of work. What those of before had in hand is taken over as that of the dead. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await refuseLivingWorkers(db);
  await sql`drop table worker_heartbeats`.execute(db);
  await sql`alter table ai_workers rename to workers`.execute(db);
  await sql`alter index ai_workers_pkey rename to workers_pkey`.execute(db);
  // Null where no AI tasks are taken.
  await sql`alter table workers alter column capabilities drop not null`.execute(db);
}
