import type { ColumnType, JSONColumnType } from 'kysely';
import type { CanonicalRule } from './rules/canonical.ts';

export interface SecurityGroupTables {
  security_groups: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    description: string;
    /** Whether it is the project's default group, which can't be deleted. */
    is_default: boolean;
    /** The cluster whose nodes are always in the group. */
    cluster_id: ColumnType<string | null, string | null | undefined, never>;
    /** Rises with every change of the group or its rules. */
    revision_number: ColumnType<number, number | undefined, number>;
    tags: JSONColumnType<Record<string, string>>;
    created_at: Date;
    updated_at: Date;
  };
  security_group_rules: CanonicalRule & {
    id: string;
    security_group_id: string;
    revision_number: ColumnType<number, number | undefined, number>;
    /** Equal for rules that mean the same; unique within the group. */
    duplicate_key: string;
    /** The position of the rule in the request. */
    position: number;
    created_at: Date;
    updated_at: Date;
  };
}
