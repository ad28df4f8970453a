import type { ColumnType, Generated } from 'kysely';

export interface IdentityTables {
  resellers: { id: Generated<number>; name: string; created_at: Date };
  clients: { id: Generated<number>; reseller_id: number; company: string; created_at: Date };
  users: {
    id: Generated<number>;
    client_id: number;
    /** The reseller this user administers; null for the users of a client. */
    reseller_id: number | null;
    email: string;
    name: string | null;
    platform_administrator: boolean;
    created_at: Date;
  };
  api_tokens: {
    id: Generated<number>;
    client_id: number;
    user_id: number;
    role_id: number;
    name: string;
    description: string;
    /** SHA-256 of the secret; the secret itself is shown once and kept nowhere. */
    secret_hash: Buffer;
    /** Set by TRADEWIND_BOOTSTRAP_TOKEN, and replaced when that changes. */
    bootstrap: ColumnType<boolean, boolean | undefined, boolean>;
    expires_at: Date | null;
    created_at: Date;
    last_used_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
    deleted_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  };
}
