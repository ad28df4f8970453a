import type { Generated } from 'kysely';

export interface UserTables {
  users: {
    id: Generated<number>;
    /** The account that made the user: one of those in `client_users`, unless the user is deleted. */
    client_id: number;
    /** The reseller this user administers; null for the users of a client. */
    reseller_id: number | null;
    email: string;
    name: string | null;
    phone: Generated<string | null>;
    lang: Generated<Language>;
    platform_administrator: boolean;
    /** False: blocked by the platform, everywhere. */
    is_active: Generated<boolean>;
    /** Invited by the account in `client_id`, and not there yet: nobody logs in with this row. */
    pending: Generated<boolean>;
    /** Kept for clients; there are passwords alone. */
    auth_types: Generated<string[]>;
    /** Null: the user can't sign in with a password. */
    password_hash: Generated<string | null>;
    /** When the user said that they forgot it, until it is set anew. */
    password_requested_at: Generated<Date | null>;
    /** Somebody else chose the password, and may know it. */
    password_given: Generated<boolean>;
    /** The address before the last change. */
    former_email: Generated<string | null>;
    email_changed_at: Generated<Date | null>;
    created_at: Date;
    deleted_at: Generated<Date | null>;
  };
  /** Who belongs to which account. */
  client_users: {
    client_id: number;
    user_id: number;
    role_id: number;
    /** False: blocked by the account, in it alone. */
    is_active: Generated<boolean>;
    created_at: Date;
  };
  /** By the row of the user that stands for the invited until they accept. */
  invitations: {
    user_id: number;
    client_id: number;
    secret_hash: Buffer;
    invited_by: number;
    created_at: Date;
    expires_at: Date;
    /** Accepted or withdrawn. */
    ended_at: Generated<Date | null>;
  };
}

export type Language = 'az' | 'de' | 'en' | 'ru' | 'zh';
