import type { Generated } from 'kysely';

export interface UserTables {
  users: {
    id: Generated<number>;
    /** The account that created the user: one of those in `client_users`, unless the user is deleted. */
    client_id: number;
    /** The reseller this user administers; null for the users of a client. */
    reseller_id: number | null;
    /** One of those whom the reseller has let work for it, rather than its own administrator. */
    is_seller: Generated<boolean>;
    email: string;
    name: string | null;
    phone: Generated<string | null>;
    lang: Generated<Language>;
    platform_administrator: boolean;
    /** False: blocked by the platform, everywhere. */
    is_active: Generated<boolean>;
    /** Invited by the account in `client_id` and not accepted yet: nobody logs in with this row. */
    pending: Generated<boolean>;
    /** Stored for clients; passwords are the only way to sign in. */
    auth_types: Generated<string[]>;
    /** Null: the user can't sign in with a password. */
    password_hash: Generated<string | null>;
    /** When the user asked for a new password; null once it is set. */
    password_requested_at: Generated<Date | null>;
    /** Whether somebody else chose the password, and may know it. */
    password_given: Generated<boolean>;
    /** The address before the last change. */
    former_email: Generated<string | null>;
    email_changed_at: Generated<Date | null>;
    created_at: Date;
    deleted_at: Generated<Date | null>;
  };
  /** The accounts of each user. */
  client_users: {
    client_id: number;
    user_id: number;
    role_id: number;
    /** False: blocked by the account, and only there. */
    is_active: Generated<boolean>;
    created_at: Date;
  };
  /** Keyed by the user row that stands for the invited person until they accept. */
  invitations: {
    user_id: number;
    client_id: number;
    secret_hash: Buffer;
    invited_by: number;
    created_at: Date;
    expires_at: Date;
    /** When the invitation was accepted or withdrawn. */
    ended_at: Generated<Date | null>;
  };
}

export type Language = 'az' | 'de' | 'en' | 'ru' | 'zh';
