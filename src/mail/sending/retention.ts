import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';

const KEPT_DAYS = 7;
const BATCH = 1_000;

/** Deletes mails that ended long ago, in batches. Until then they keep others from being sent twice. */
export async function forgetOldMails({ sql: db }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_DAYS * 86_400_000);
  for (let deleted = BATCH; deleted === BATCH; ) {
    const { numAffectedRows } = await sql`
      delete from mails where id = any(array(
        select id from mails where ended_at < ${before} order by ended_at limit ${BATCH}))`.execute(db);
    deleted = Number(numAffectedRows);
  }
}
