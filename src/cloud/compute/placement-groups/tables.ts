import type { ColumnType } from 'kysely';

export const GROUP_POLICIES = ['affinity', 'anti-affinity', 'soft-anti-affinity'] as const;
export type GroupPolicy = (typeof GROUP_POLICIES)[number];

type Fixed<T> = ColumnType<T, T, never>;

export interface PlacementGroupTables {
  server_groups: {
    id: string;
    project_id: number;
    region_id: number;
    name: Fixed<string>;
    policy: Fixed<GroupPolicy>;
    /** The pool whose nodes are in the group; null if a client created it. It goes with its pool. */
    pool_id: Fixed<string | null>;
    /** The task that deletes the group. */
    task_id: string | null;
    created_at: Date;
  };
  /** The instances in groups of clients. An instance is in one group at most, and leaves it when it is deleted. */
  server_group_members: { instance_id: string; server_group_id: string };
}
