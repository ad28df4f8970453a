import type { ColumnType, Generated } from 'kysely';

/** What is said of one kind of thing, or of one project: how much of it is left. */
export interface DeletionStep {
  kind: string;
  /** The ID of the project, or of the account. */
  id: string;
  state: 'waiting' | 'doing' | 'removed';
  doing: string | null;
}

export interface DeletionTables {
  /** Deletions of accounts, and of projects with everything in them. */
  deletions: {
    task_id: string;
    /** The account that is deleted, or that has the project. */
    client_id: number;
    /** Null if the account itself goes. */
    project_id: number | null;
    steps: ColumnType<DeletionStep[], string | undefined, string>;
    worker_id: Generated<string | null>;
    /** How often a worker has begun with it. */
    claims: Generated<number>;
    begun_at: Date;
    ended_at: Generated<Date | null>;
  };
  /** The hash of what a user has to send to have an account deleted. */
  deletion_confirmations: { client_id: number; user_id: number; confirmation: string; expires_at: Date };
}
