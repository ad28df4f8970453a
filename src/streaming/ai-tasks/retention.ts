import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { deleteEndedBefore } from './work/store.ts';

/** How long an ended task and its result are kept: a month, as published. */
export const KEPT_DAYS = 30;
const BATCH = 1_000;
const DAY_MS = 86_400_000;

/**
 * Deletes tasks that ended long ago, in bounded batches. Each batch invalidates the remembered counts of its
 * accounts, so that batches should be few and rare. Returns how many were deleted.
 */
export async function deleteOldTasks(database: Database, clock: Clock): Promise<number> {
  const time = new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
  let deleted = 0;
  for (;;) {
    const some = await deleteEndedBefore(database.sql, time, BATCH);
    deleted += some;
    if (some < BATCH) return deleted;
  }
}
