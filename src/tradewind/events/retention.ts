import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { deleteOldest } from './store.ts';

/** How long a reader may be away and miss nothing. */
export const HISTORY_HOURS = 24;
/** How long a durable reader, such as that of webhooks, may be away. */
const LATEST_HOURS = 7 * 24;
const BATCH = 1_000;

/** Deletes all of them, in batches. */
export async function forgetOldEvents({ sql }: Pick<Database, 'sql'>, clock: Clock): Promise<void> {
  const ago = (hours: number) => new Date(clock.now().getTime() - hours * 3_600_000);
  const old = { before: ago(HISTORY_HOURS), latest: ago(LATEST_HOURS), limit: BATCH };
  while ((await deleteOldest(sql, old)) === BATCH);
}
