import { sql } from 'kysely';
import type { Database } from '../../../db/database.ts';

const BATCH = 10_000;

/** Deletes usage that ended before that time. Returns how many periods. */
export async function deleteOldUsage({ sql: db }: Pick<Database, 'sql'>, before: Date): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from usage_periods where id = any(array(
        select id from usage_periods where ended_at < ${before} limit ${BATCH}
      ))`.execute(db);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BATCH) return deleted;
  }
}
