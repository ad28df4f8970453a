import type { JSONColumnType } from 'kysely';

export interface SimulatedClusterTables {
  /** What the simulated infrastructure runs. Nothing but the simulated backend reads or writes it. */
  simulated_clusters: {
    cluster_id: string;
    phase: 'building' | 'ready' | 'changing' | 'deleting';
    version: string;
    /** Number of nodes by name. */
    pools: JSONColumnType<Record<string, number>>;
    /** What was last applied to each pool, by its name, with the revision of the settings. */
    pool_settings: JSONColumnType<Record<string, { revision: number }>>;
    /** What was last applied, by group. */
    settings: JSONColumnType<Record<string, unknown>>;
    /** Rises by one with every operation that had an effect. */
    revision: number;
  };
  /** Every operation that had its effect, by idempotency key. */
  simulated_cluster_operations: {
    key: string;
    cluster_id: string;
    operation: string;
    /** What the operation was about: a pool or a group; null where there is nothing to tell apart. */
    detail: string | null;
    revision: number;
    applied_at: Date;
  };
}
