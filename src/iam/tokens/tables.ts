import type { Generated } from 'kysely';

export interface TokenTables {
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
    bootstrap: Generated<boolean>;
    /** The account from which it was made, if that is neither its own nor the platform administrator's. */
    maker_client_id: Generated<number | null>;
    expires_at: Date | null;
    created_at: Date;
    last_used_at: Generated<Date | null>;
    deleted_at: Generated<Date | null>;
  };
}
