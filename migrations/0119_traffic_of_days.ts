import type { Kysely } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** A port has one row for each day in UTC and each kind of machine: the hours are added to it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexConcurrently(
    db,
    'usage_periods_traffic',
    `usage_periods (resource_id, sku, ((started_at at time zone 'UTC')::date)) where type = 'egress_traffic'`,
    { unique: true },
  );
}
