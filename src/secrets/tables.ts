import type { Generated } from 'kysely';

export interface SecretTables {
  /** What secrets are encrypted with: the newest for new values, the older ones to read with. */
  data_keys: {
    id: Generated<number>;
    /** The key, encrypted with the operator's. */
    wrapped: Buffer;
    /** Which of the operator's keys that is. */
    encryption_key_id: string;
    created_at: Date;
    /** Null until every value that was there is encrypted with it. */
    completed_at: Date | null;
  };
}
