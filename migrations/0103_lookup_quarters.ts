import { type Kysely, sql } from 'kysely';
import { OF_QUARTERS } from './0102_lookup_indexes.ts';

/** Makes the indexes of the quarters those of the whole tables, and of each quarter to come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, name, columns] of OF_QUARTERS) {
    await sql`
      -- Every partition has such an index already, and none is built.
      -- squawk-ignore require-concurrent-index-creation
      create index ${sql.ref(`${table}_${name}`)} on ${sql.ref(table)} ${sql.raw(columns)}`.execute(db);
  }
  // The new one by request answers the same queries.
  await sql`
    -- A partitioned index can't be dropped concurrently, and dropping takes no time.
    -- squawk-ignore require-concurrent-index-deletion
    drop index user_actions_by_request`.execute(db);
}
