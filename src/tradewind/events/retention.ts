import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { deleteOldest } from './store.ts';

/** How long a reader may be away and miss nothing. */
export const HISTORY_HOURS = 24;
const BATCH = 1_000;

/** Deletes all of them, in batches. */
export async function forgetOldEvents({ sql }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const before = new Date(clock.now().getTime() - HISTORY_HOURS * 3_600_000);
  while ((await deleteOldest(sql, before, BATCH)) === BATCH);
}
