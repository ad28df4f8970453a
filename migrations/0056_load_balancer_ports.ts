import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** Every load balancer has one port with its virtual address. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['ports_load_balancer', 'ports_held_by_one', 'ports_used']) {
    await sql`alter table ports validate constraint ${sql.ref(name)}`.execute(db);
  }
  await createIndexConcurrently(
    db,
    'ports_of_load_balancer',
    'ports (load_balancer_id) where load_balancer_id is not null',
    { unique: true },
  );
}
