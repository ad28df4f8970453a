import { sql } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import type { Clock } from '../../../lib/time.ts';
import { FAILING_FROM } from './fan-out-store.ts';

/** Counting goes on up to here. */
export const MOST_COUNTED = 100_000;

/** What is to be sent to webhooks, in all processes together. */
export interface WebhookFigures {
  sending: number;
  /** What isn't being sent: it is due, or waits for its turn or its next attempt. */
  waiting: number;
  /** Age of what has waited longest, in seconds. */
  oldestSeconds: number;
  /** Webhooks whose last attempts all failed. */
  failing: number;
}

/** The conditions are those of partial indexes. */
export async function webhookFigures(db: Sql): Promise<WebhookFigures> {
  const { rows } = await sql<WebhookFigures>`
    select (select count(*) from webhook_deliveries where worker_id is not null) as sending,
      (select count(*) from (
        select from webhook_deliveries where state = 'pending' limit ${MOST_COUNTED}
      ) as pending) as waiting,
      coalesce((
        select extract(epoch from now() - created_at)::float8 from webhook_deliveries
        where state = 'pending' order by expires_at limit 1
      ), 0) as "oldestSeconds",
      (select count(*) from webhook_sending where failures >= ${FAILING_FROM}) as failing`.execute(db);
  const { sending = 0, waiting = 0, oldestSeconds = 0, failing = 0 } = rows[0] ?? {};
  return { sending, waiting: Math.max(0, waiting - sending), oldestSeconds: Math.max(0, oldestSeconds), failing };
}

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
