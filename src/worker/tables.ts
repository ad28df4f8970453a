import type { ColumnType, GeneratedAlways } from 'kysely';

export interface WorkerTables {
  /** Processes that take work. A row outlives its process for a while. */
  workers: {
    id: string;
    host: string;
    pid: number;
    /** What its engines for AI tasks can do; null if it takes no AI tasks. */
    capabilities: GeneratedAlways<object | null>;
    started_at: GeneratedAlways<Date>;
    beat_at: ColumnType<Date, undefined, Date>;
  };
}
