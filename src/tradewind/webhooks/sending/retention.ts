import { sql } from 'kysely';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';

const KEPT_DAYS = 7;
const BATCH = 1_000;

/** Deletes old deliveries, in batches, and secrets that nothing is signed with any more. */
export async function forgetOldDeliveries({ sql: db }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const now = clock.now();
  const before = new Date(now.getTime() - KEPT_DAYS * 86_400_000);
  for (let deleted = BATCH; deleted === BATCH; ) {
    const { numAffectedRows } = await sql`
      with oldest as materialized (
        select id, created_at from webhook_deliveries order by id limit ${BATCH}
      )
      delete from webhook_deliveries using oldest
      where webhook_deliveries.id = oldest.id and oldest.created_at < ${before}`.execute(db);
    deleted = Number(numAffectedRows);
  }
  await sql`
    update webhooks set previous_secret = null
    where previous_secret is not null and previous_until <= ${now}`.execute(db);
}
