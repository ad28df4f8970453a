import type { Kysely } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** For the workers that pass events on to webhooks, which ask every second: since when somebody wants them, and who. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexConcurrently(db, 'webhooks_by_position', 'webhooks (after_position) where enabled');
  await createIndexConcurrently(db, 'webhooks_of_all', 'webhooks (id) where all_accounts');
}
