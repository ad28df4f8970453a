import type { ColumnType } from 'kysely';

/** One row per running worker process; the worker keeps `beat_at` fresh, by the database's own clock. */
export interface WorkerHeartbeats {
  /** The process's name in the durable engine: new with every start. */
  executor_id: string;
  host: string;
  pid: number;
  started_at: ColumnType<Date, Date | undefined, never>;
  beat_at: ColumnType<Date, Date | undefined, Date>;
}

export interface WorkerTables {
  worker_heartbeats: WorkerHeartbeats;
}
