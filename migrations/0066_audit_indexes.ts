import { type Kysely, sql } from 'kysely';
import { INDEXES } from './0065_audit_quarters.ts';

/** Makes the indexes of the quarters those of the whole table, and of each quarter to come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, columns] of INDEXES) {
    await sql`
      -- Every partition has such an index already, and none is built.
      -- squawk-ignore require-concurrent-index-creation
      create index ${sql.ref(`user_actions_by_${name}`)} on user_actions ${sql.raw(columns)}`.execute(db);
  }
}
