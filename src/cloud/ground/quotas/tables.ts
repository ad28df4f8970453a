import type { ColumnType, Generated, JSONColumnType } from 'kysely';

export const REQUEST_STATUSES = ['done', 'in progress', 'rejected'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** By the names of the answer: `vm_count_limit`. */
export type LimitFields = Record<string, number>;

/** As a client sends it. */
export interface RequestedLimits {
  global_limits?: LimitFields;
  regional_limits?: ({ region_id: number } & LimitFields)[];
}

export interface QuotaTables {
  quota_usage: { client_id: number; region_id: number; attribute: string; used: number };
  /** The limits of clients that differ from those of the catalogue. Region 0 stands for quotas without a region. */
  quota_limits: { client_id: number; region_id: number; attribute: string; most: number };
  /** The percentage of a quota at which a client wants to be warned. */
  quota_thresholds: { client_id: number; threshold: number };
  /** Quotas that were used up to the threshold, the last time for each. */
  quota_warnings: {
    client_id: number;
    region_id: number;
    attribute: string;
    used: number;
    most: number;
    noted_at: Date;
    /** Null until the mails are written. */
    mailed_at: Date | null;
  };
  quota_requests: {
    id: Generated<number>;
    client_id: ColumnType<number, number, never>;
    description: string;
    requested_limits: JSONColumnType<RequestedLimits>;
    status: RequestStatus;
    created_at: Date;
    updated_at: Date;
    revision: Generated<number>;
  };
}
