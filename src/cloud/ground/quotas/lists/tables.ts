import type { GeneratedAlways, JSONColumnType } from 'kysely';
import type { ListScope } from '../../dated-lists/schema.ts';

/** By name for all regions, or by region and name: `1 vm_count`. */
export type ListedLimits = Record<string, number>;

export interface QuotaListTables {
  /** The last one of a scope that has begun is in force. None is ever changed. */
  quota_lists: {
    id: GeneratedAlways<number>;
    scope: ListScope;
    reseller_id: number | null;
    client_id: number | null;
    /** A full second. */
    valid_from: Date;
    limits: JSONColumnType<ListedLimits>;
    /** The user who made it. */
    created_by: number;
    created_at: Date;
  };
}
