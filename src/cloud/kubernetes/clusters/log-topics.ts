import type { Transaction } from '../../../db/database.ts';
import { keepTopicOf } from '../../ground/logging/in-transaction.ts';
import { findLogging } from './store.ts';

/** Makes sure that the topic for the cluster's logs exists, if the cluster logs at all. */
export async function keepLogTopic(tx: Transaction, clusterId: string, now: Date): Promise<void> {
  const { projectId, logging } = (await findLogging(tx, clusterId)) ?? {};
  if (projectId === undefined || !logging?.enabled) return;
  const { destination_region_id: regionId, topic_name: name, retention_policy: policy } = logging;
  if (regionId === null || name === null) return;
  await keepTopicOf(tx, { projectId, regionId }, { name, retentionDays: policy?.period }, now);
}
