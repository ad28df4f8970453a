import type { Queue } from '../../../worker/worker.ts';
import { WEBHOOKS } from '../store.ts';
import { attemptDelivery, type Sender } from './attempt.ts';
import * as claims from './claims.ts';
import { bringBack, giveUp, isAnythingLate } from './endings.ts';

const OF_ACCOUNT = 10;
/** Another webhook of the account can always begin. */
const OF_WEBHOOK = 6;
const HERE = 100;
/** However many receivers are dead, the others have room. */
const HERE_FAILING = 50;
const GIVE_UP_BATCH = 500;
/** Longer than any wait for the next attempt. */
const LATEST_MS = 2 * 3_600_000;

/** The queue of what is to be sent to webhooks: each delivery by one worker at a time. */
export function webhookQueue(sender: Sender): Queue {
  const { database, workerId, clock } = sender;
  const failing = new Set<string>();
  return {
    name: 'webhook deliveries',
    topic: WEBHOOKS,
    async take(inHand, begin) {
      const now = clock.now();
      const here = HERE - inHand.size;
      if (here <= 0 || !(await claims.isAnythingDue(database.sql, now))) return false;
      const hereFailing = HERE_FAILING - failing.size;
      const room = { ofAccount: OF_ACCOUNT, ofWebhook: OF_WEBHOOK, here, hereFailing };
      const taken = await claims.takeDue(database, { workerId, now, room });
      for (const claimed of taken) {
        const key = String(claimed.id);
        if (claimed.failing) failing.add(key);
        // An attempt that has begun is ended: nobody knows what the receiver has got.
        const work = () => attemptDelivery(sender, claimed).finally(() => failing.delete(key));
        begin({ key, state: claimed.attempts, work });
      }
      return taken.length > 0;
    },
    claimed: () => claims.claimedBy(database.sql, workerId),
    giveBack: (ids) => claims.giveBack(database.sql, workerId, ids),
    takeFromDead: () => claims.takeFromDead(database.sql),
    async sweep() {
      const now = clock.now();
      const latest = new Date(now.getTime() + LATEST_MS);
      if (!(await isAnythingLate(database.sql, { now, latest }))) return;
      await database.transaction(async (tx) => {
        await bringBack(tx, latest);
        await giveUp(tx, { now, limit: GIVE_UP_BATCH, fault: 'Not sent in time' });
      });
    },
  };
}
