import type { Transaction } from '../../db/database.ts';
import type { Place } from '../../db/place.ts';
import { initialise } from './namespaces.ts';
import { keepTopic } from './store.ts';

/**
 * Makes the topic that a cluster logs into, which stays when that is switched off. The region is the one that keeps the
 * logs, which need not be the cluster's; `retentionDays` is null for ever, undefined where the topic decides.
 */
export async function keepTopicOf(
  tx: Transaction,
  place: Place,
  topic: { name: string; retentionDays: number | null | undefined },
  now: Date,
): Promise<void> {
  await initialise(tx, place, null, now);
  await keepTopic(tx, place, topic);
}
