import type { Kysely } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** Machines that do something by themselves: few among many. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexConcurrently(
    db,
    'simulated_objects_by_themselves',
    `simulated_objects (id) where doing in ('crashed', 'host_gone', 'stopped')`,
  );
  await createIndexConcurrently(
    db,
    'wants_failed_machines',
    `wants (region_id) where kind = 'machine' and observed ->> 'power' in ('crashed', 'host_gone')`,
  );
}
