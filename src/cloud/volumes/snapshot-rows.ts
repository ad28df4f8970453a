import type { Transaction } from '../../db/database.ts';
import type { QuotaOwner } from '../quotas/quotas.ts';

/** What removing volumes needs of their snapshots. */
export interface SnapshotRows {
  /** The snapshots of the volumes, locked until the transaction ends. */
  lockOf(
    tx: Transaction,
    volumeIds: string[],
  ): Promise<{ id: string; volume_id: string; task_id: string | null }[]>;
  /** The one taken last, locked like those; undefined when the volume has none. */
  lockLatestOf(
    tx: Transaction,
    volumeId: string,
  ): Promise<{ id: string; size_gib: number; task_id: string | null } | undefined>;
  /** Marks it as what the task puts back. */
  restore(tx: Transaction, id: string, taskId: string, now: Date): Promise<void>;
  /** Marks them as going with the task. */
  hold(tx: Transaction, ids: string[], taskId: string, now: Date): Promise<void>;
  /** They stay after all. */
  keep(tx: Transaction, ids: string[], now: Date): Promise<void>;
  /** They are gone, and the quota is free again. */
  drop(tx: Transaction, ids: string[], owner: QuotaOwner): Promise<void>;
}
