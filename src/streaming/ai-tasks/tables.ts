import type { ColumnType, GeneratedAlways, JSONColumnType } from 'kysely';
import type { Status } from './states.ts';
import type { TaskData } from './task-data.ts';

export interface AiTaskTables {
  ai_tasks: {
    id: string;
    client_id: number;
    task_name: TaskData['task_name'];
    status: Status;
    progress: ColumnType<number, number | undefined, number>;
    retries: ColumnType<number, number | undefined, number>;
    task_data: JSONColumnType<TaskData>;
    /** The text that searches look through; see search-text.ts. */
    search_text: string;
    result: ColumnType<object | null, string | undefined, string>;
    created_at: Date;
    /** In UTC. */
    created_day: GeneratedAlways<Date>;
    /** When work on the task first began. */
    started_at: ColumnType<Date | null, undefined, Date>;
    completed_at: ColumnType<Date | null, undefined, Date>;
    /** The task must not be retried before this time. */
    retry_at: ColumnType<Date | null, undefined, Date | null>;
    /** How many workers died while working on it. */
    losses: ColumnType<number, undefined, number>;
  };
  /** Tasks that are being worked on, and by which worker. */
  ai_task_runs: {
    task_id: string;
    client_id: number;
    worker_id: string;
    begun_at: GeneratedAlways<Date>;
  };
  /** Written by triggers of `ai_tasks`. */
  ai_task_changes: {
    client_id: number;
    xid: string;
    task_id: string | null;
    status: Status | null;
    sign: 1 | -1 | null;
    noted_at: Date;
  };
}
