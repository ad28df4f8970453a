import type { Generated } from 'kysely';

export interface ProjectTables {
  projects: {
    id: Generated<number>;
    client_id: number;
    name: string;
    description: string | null;
    is_default: boolean;
    /** The task that deletes the project with everything in it. */
    deletion_task_id: Generated<string | null>;
    created_at: Date;
  };
  deleted_projects: {
    id: number;
    client_id: number;
    name: string;
    description: string | null;
    created_at: Date;
    deleted_at: Date;
  };
}
