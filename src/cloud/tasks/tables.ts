import type { JSONColumnType } from 'kysely';

export type TaskState = 'NEW' | 'RUNNING' | 'FINISHED' | 'ERROR';

export interface TaskTables {
  tasks: {
    id: string;
    task_type: string;
    state: TaskState;
    client_id: number;
    user_id: number;
    user_client_id: number;
    project_id: number | null;
    region_id: number | null;
    request_id: string | null;
    data: JSONColumnType<object>;
    /** What the task's end needs to know; null if its end has come already. */
    input: JSONColumnType<object> | null;
    created_resources: JSONColumnType<Record<string, (string | number)[]>> | null;
    error: string | null;
    created_on: Date;
    updated_on: Date | null;
    finished_on: Date | null;
    deadline_at: Date;
    acknowledged_at: Date | null;
    acknowledged_by: number | null;
  };
}
