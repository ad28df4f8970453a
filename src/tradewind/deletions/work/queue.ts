import type { Clock } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import type { Queue } from '../../../worker/worker.ts';
import { DELETIONS } from '../tasks.ts';
import { pursueDeletion } from './pursuit.ts';
import * as store from './store.ts';

/** Deletions that one process works on at a time. */
const HERE = 4;
const KEPT_MS = 24 * 3_600_000;

/** The queue of deletions: each by one worker at a time. */
export function deletionQueue(
  on: Platform,
  { workerId, removalTime }: { workerId: string; removalTime: Clock },
): Queue {
  const { database } = on;
  return {
    name: 'deletions',
    topic: DELETIONS,
    async take(inHand, begin) {
      const room = HERE - inHand.size;
      const taken = room > 0 ? await store.take(database.sql, workerId, room) : [];
      for (const one of taken) {
        const work = (signal: AbortSignal) => pursueDeletion(on, one, signal);
        begin({ key: one.taskId, state: one.claims, work });
      }
      return taken.length > 0;
    },
    claimed: () => store.claimedBy(database.sql, workerId),
    giveBack: (ids) => store.giveBack(database.sql, workerId, ids),
    takeFromDead: () => store.takeFromDead(database.sql),
    sweep: () => store.forgetEnded(database.sql, new Date(removalTime.now().getTime() - KEPT_MS)),
  };
}
