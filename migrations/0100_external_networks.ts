import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** A region may have several external networks. The previous release makes one, whose ID is in its catalogue. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexConcurrently(db, 'networks_outside', 'networks (region_id) where external');
  const how = sql.raw(db.isTransaction ? '' : 'concurrently');
  await sql`drop index ${how} if exists networks_external`.execute(db);
}
