import type { Queue } from '../../worker/queue.ts';
import { MAILS, SENT_WITHIN_MS } from '../words.ts';
import { attemptMail, type Sender } from './attempt.ts';
import * as claims from './claims.ts';
import { bringBack, giveUp } from './endings.ts';

/** Mails that a process sends at a time. */
const HERE = 8;
const GIVE_UP_BATCH = 100;

/** The queue of mails: each sent by one worker at a time. */
export function mailQueue(sender: Sender): Queue {
  const { database, workerId, clock, log } = sender;
  return {
    name: 'mails',
    topic: MAILS,
    async take(inHand, begin) {
      const limit = HERE - inHand.size;
      if (limit <= 0) return false;
      const taken = await claims.takeDue(database.sql, { workerId, now: clock.now(), limit });
      for (const claimed of taken) {
        // An attempt that has begun is ended: nobody knows what the server has taken.
        begin({ key: claimed.id, state: claimed.attempts, work: () => attemptMail(sender, claimed) });
      }
      return taken.length > 0;
    },
    claimed: () => claims.claimedBy(database.sql, workerId),
    giveBack: (ids) => claims.giveBack(database.sql, workerId, ids),
    takeFromDead: () => claims.takeFromDead(database.sql),
    async sweep() {
      const now = clock.now();
      await bringBack(database.sql, { now, latest: new Date(now.getTime() + SENT_WITHIN_MS) });
      for (const { id, kind, fault } of await giveUp(database.sql, { now, limit: GIVE_UP_BATCH }))
        log.warn({ mail: id, kind, fault }, 'A mail is given up');
    },
  };
}
