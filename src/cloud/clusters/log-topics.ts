import type { Transaction } from '../../db/database.ts';
import { findLogging } from './store.ts';

/** What clusters need of the log topics of projects. */
export interface LogTopics {
  /** Makes the topic where there is none; `retentionDays` is null for ever, undefined where the topic decides. */
  keep(
    tx: Transaction,
    target: {
      projectId: number;
      regionId: number;
      topic: string;
      retentionDays: number | null | undefined;
    },
  ): Promise<void>;
}

/** Makes the topic that the cluster's logs go to, if they go anywhere. */
export async function keepLogTopic(tx: Transaction, topics: LogTopics, clusterId: string): Promise<void> {
  const { projectId, logging } = (await findLogging(tx, clusterId)) ?? {};
  if (projectId === undefined || !logging?.enabled) return;
  const { destination_region_id: regionId, topic_name: topic, retention_policy: policy } = logging;
  if (regionId === null || topic === null) return;
  await topics.keep(tx, { projectId, regionId, topic, retentionDays: policy?.period });
}
