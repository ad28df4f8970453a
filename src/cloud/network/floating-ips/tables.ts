import type { ColumnType, JSONColumnType } from 'kysely';

export interface FloatingIpTables {
  floating_ips: {
    id: string;
    project_id: number;
    region_id: number;
    address: ColumnType<string, string, never>;
    /** The port and its address to which the floating IP is assigned. */
    port_id: string | null;
    fixed_address: string | null;
    tags: JSONColumnType<Record<string, string>>;
    creator_task_id: string;
    /** The task that holds the floating IP. */
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
}
