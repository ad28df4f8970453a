import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';

const DAY_MS = 86_400_000;
const BATCH = 10_000;

/** Deletes usage that ended longer ago than it is kept. Returns how many periods. */
export async function deleteOldUsage(
  { sql: db }: Pick<Database, 'sql'>,
  { now, keptDays }: { now: Date; keptDays: number },
): Promise<number> {
  const before = new Date(now.getTime() - keptDays * DAY_MS);
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
