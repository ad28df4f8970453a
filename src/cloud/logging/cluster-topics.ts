import type { Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { initialise } from './namespaces.ts';
import { keepTopic } from './store.ts';

/** Where the logs of a cluster go. */
export interface LogTarget {
  projectId: number;
  /** The region that keeps the logs, which need not be the cluster's. */
  regionId: number;
  topic: string;
  /** Null for ever; undefined where the topic decides. */
  retentionDays: number | null | undefined;
}

/** The topics of clusters come with the logging of the cluster, and stay when that is switched off. */
export function createClusterTopics({ clock }: { clock: Clock }) {
  return {
    async keep(tx: Transaction, target: LogTarget): Promise<void> {
      const { projectId, regionId, topic: name, retentionDays } = target;
      await initialise(tx, { projectId, regionId }, null, clock.now());
      await keepTopic(tx, { projectId, regionId }, { name, retentionDays });
    },
  };
}
