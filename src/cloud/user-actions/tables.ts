import type { Generated } from 'kysely';

export type Outcome = 'accepted' | 'refused' | 'failed';

export interface UserActionTables {
  user_actions: {
    id: Generated<number>;
    client_id: number;
    user_id: number;
    token_id: number | null;
    request_id: string;
    operation: string;
    method: string;
    path: string;
    project_id: number | null;
    region_id: number | null;
    task_id: string | null;
    source_user_ip: string;
    user_agent: string | null;
    outcome: Outcome;
    status: number;
    timestamp: Date;
  };
}
