import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

export const INDEXES = [
  // The log of requests counts them from the index alone.
  ['request_of_client', '(client_id, "timestamp" desc, id desc) where origin is null'],
  ['moment', '("timestamp" desc, id desc)'],
  ['user', '(user_id, "timestamp" desc, id desc)'],
  ['token', '(token_id, "timestamp" desc, id desc) where token_id is not null'],
  ['address', '(source_user_ip, "timestamp" desc, id desc)'],
  ['type', '(client_id, event_type, "timestamp" desc, id desc) where event_type is not null'],
  ['event', '(event_type, "timestamp" desc, id desc) where event_type is not null'],
  ['subject', '(subject, "timestamp" desc, id desc) where subject is not null'],
  ['refusal_of_client', `(client_id, outcome, "timestamp" desc, id desc) where outcome <> 'accepted'`],
  ['refusal', `(outcome, "timestamp" desc, id desc) where outcome <> 'accepted'`],
] as const;

/** PostgreSQL builds no index on a partitioned table while others write, but on each of its partitions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ quarter: string }>`
    select inhrelid::regclass::text as quarter from pg_inherits where inhparent = 'user_actions'::regclass`.execute(db);
  for (const { quarter } of rows) {
    for (const [name, columns] of INDEXES)
      await createIndexConcurrently(db, `${quarter}_by_${name}`, `${quarter} ${columns}`);
  }
}
