import type { Generated, JSONColumnType } from 'kysely';
import type { ActionResource } from '../../../lib/resources.ts';

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
  /** Deletions that are accepted, and wait until a task has ended that holds what they delete. */
  waiting_deletions: {
    /** Their own task, which is NEW. */
    task_id: string;
    /** Its type. */
    kind: string;
    /** What the deletion is called with. */
    args: JSONColumnType<unknown[]>;
    /** The things that it is about. */
    about: JSONColumnType<ActionResource[]>;
    /** The account, which takes turns with others. */
    client_id: number;
    project_id: number;
    region_id: number;
    /** Names what is deleted: it waits once. */
    thing: string;
    /** The task that they wait for. */
    behind: string;
    /** When to try next; null until that task has ended. */
    due_at: Date | null;
    /** Whether the thing was in use when they were tried last, since that task has ended. */
    in_use: Generated<boolean>;
    worker_id: Generated<string | null>;
    /** How often a worker has begun with it. */
    claims: Generated<number>;
  };
}
