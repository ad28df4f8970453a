import type { Generated } from 'kysely';

export interface AuditTables {
  /** The chain: each seal has the hash of the records since the one before, and of its hash. */
  audit_seals: {
    number: number;
    last_id: number;
    records: number;
    first_at: Date;
    last_at: Date;
    digest: Buffer;
    hash: Buffer;
    sealed_at: Date;
  };
  /** One row: from before that time, records are no longer kept. */
  audit_retention: { removed_before: Generated<Date | null> };
}
