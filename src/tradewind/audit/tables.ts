import type { Generated } from 'kysely';

export interface AuditTables {
  /** The chain: each seal has the hash of the records since the one before, and of its hash, which is `previous`. */
  audit_seals: {
    number: number;
    /** Of the hash: the first didn't include the times. */
    form: Generated<number>;
    previous: Buffer | null;
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
