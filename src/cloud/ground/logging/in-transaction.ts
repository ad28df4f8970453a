import type { Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { initialise } from './namespaces.ts';
import { keepTopic } from './store.ts';

/**
 * Creates the topic that a cluster logs to. The topic stays when the cluster's logging is switched off. The place has
 * the region that stores the logs, which may differ from the cluster's. `retentionDays` is null to keep logs for ever,
 * and undefined to leave the choice to the topic.
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
