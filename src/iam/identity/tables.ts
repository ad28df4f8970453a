import type { ColumnType, Generated } from 'kysely';

/** A column with a default, which an insert may leave out. */
type Optional<T> = ColumnType<T, T | undefined, T>;

export interface IdentityTables {
  resellers: { id: Generated<number>; name: string; created_at: Date };
  clients: {
    id: Generated<number>;
    reseller_id: number;
    company: string;
    /** The account's contact. */
    email: Optional<string>;
    name: Optional<string | null>;
    phone: Optional<string | null>;
    /** The reseller's own id for the account. */
    custom_id: Optional<string | null>;
    country_code: Optional<string | null>;
    is_test: Optional<boolean>;
    seller_id: Optional<number | null>;
    /** Nobody can use a paused account. */
    status: Optional<'active' | 'paused'>;
    created_at: Date;
    deleted_at: Optional<Date | null>;
  };
  users: {
    id: Generated<number>;
    /**
     * The user's home: the account that made the user. One of those in `client_users`, unless the user is
     * deleted.
     */
    client_id: number;
    /** The reseller this user administers; null for the users of a client. */
    reseller_id: number | null;
    email: string;
    name: string | null;
    phone: Optional<string | null>;
    lang: Optional<Language>;
    platform_administrator: boolean;
    /** False if the platform has blocked the user everywhere. */
    is_active: Optional<boolean>;
    /**
     * True for an invitation by the account in `client_id` that was not accepted yet: nobody logs in with
     * this row.
     */
    pending: Optional<boolean>;
    /** Stored for clients; passwords are the only way to log in. */
    auth_types: Optional<string[]>;
    /** Null if the user can't log in with a password. */
    password_hash: Optional<string | null>;
    /** When the user reported a forgotten password, until a new one is set. */
    password_requested_at: Optional<Date | null>;
    /** True if somebody else chose the password, and may know it. */
    password_given: Optional<boolean>;
    /** The address before the last change. */
    former_email: Optional<string | null>;
    email_changed_at: Optional<Date | null>;
    created_at: Date;
    deleted_at: Optional<Date | null>;
  };
  /** The members of accounts. */
  client_users: {
    client_id: number;
    user_id: number;
    role_id: number;
    /** False if this account has blocked the user. */
    is_active: Optional<boolean>;
    created_at: Date;
  };
  /** By the user row that stands for the invited person until they accept. */
  invitations: {
    user_id: number;
    client_id: number;
    secret_hash: Buffer;
    invited_by: number;
    created_at: Date;
    expires_at: Date;
    /** When the invitation was accepted or withdrawn. */
    ended_at: Optional<Date | null>;
  };
  /** Services whose state differs from the default. */
  client_services: {
    client_id: number;
    service: 'CLOUD' | 'STREAMING';
    status: ServiceStatus;
    previous_status: ServiceStatus;
    enabled: boolean;
    changed_at: Date;
  };
  client_status_changes: {
    id: Generated<number>;
    client_id: number;
    old_status: string;
    new_status: string;
    changed_at: Date;
  };
  api_tokens: {
    id: Generated<number>;
    client_id: number;
    user_id: number;
    role_id: number;
    name: string;
    description: string;
    /** SHA-256 of the secret; the secret itself is shown once and never stored. */
    secret_hash: Buffer;
    /** Set by TRADEWIND_BOOTSTRAP_TOKEN, and replaced when that changes. */
    bootstrap: Optional<boolean>;
    expires_at: Date | null;
    created_at: Date;
    last_used_at: Optional<Date | null>;
    deleted_at: Optional<Date | null>;
  };
  signing_keys: { id: string; jwk: ColumnType<object | string, string, never>; created_at: Date };
  login_sessions: {
    id: Generated<number>;
    family: string;
    user_id: number;
    client_id: number;
    maker_id: number;
    token_id: number | null;
    role_id: number;
    refresh_id: string;
    created_at: Date;
    expires_at: Date;
    ends_at: Date | null;
  };
  login_attempts: {
    id: Generated<number>;
    /** Null if no user has that name. */
    user_id: number | null;
    username: string;
    address: string;
    user_agent: string | null;
    successful: boolean;
    created_at: Date;
  };
}

export type ServiceStatus = 'new' | 'trial' | 'trialend' | 'active' | 'paused' | 'activating' | 'deleted';
export type Language = 'az' | 'de' | 'en' | 'ru' | 'zh';
