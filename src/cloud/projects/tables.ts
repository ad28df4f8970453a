import type { Generated } from 'kysely';

export interface ProjectTables {
  projects: {
    id: Generated<number>;
    client_id: number;
    name: string;
    description: string | null;
    is_default: boolean;
    created_at: Date;
    /** Always null: a deleted project goes to `deleted_projects`. */
    deleted_at: Date | null;
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
