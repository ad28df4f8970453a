import type { ColumnType, GeneratedAlways } from 'kysely';

export interface WorkerTables {
  /** Processes that take work. A row stays for a while after its process. */
  workers: {
    id: string;
    host: string;
    pid: number;
    /** What its engines for AI tasks can do; null where it takes none. */
    capabilities: GeneratedAlways<object | null>;
    started_at: GeneratedAlways<Date>;
    beat_at: ColumnType<Date, undefined, Date>;
  };
}
