import type { Generated } from 'kysely';

export interface SecretTables {
  /** Keys that encrypt secrets: the newest for new values, the older ones for reading. */
  data_keys: {
    id: Generated<number>;
    /** The key, encrypted with the operator's key. */
    wrapped: Buffer;
    /** The operator's key that encrypts it. */
    encryption_key_id: string;
    created_at: Date;
    /** Null until every earlier value is encrypted with it. */
    completed_at: Date | null;
  };
}
