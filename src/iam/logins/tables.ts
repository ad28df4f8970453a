import type { Generated } from 'kysely';

export interface LoginTables {
  login_sessions: {
    id: Generated<number>;
    /** Tokens name the login by it, since it never comes again. Null in logins from before the column, until they are refreshed. */
    key: Generated<string | null>;
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
    /** Null when nobody has that name. */
    user_id: number | null;
    username: string;
    address: string;
    user_agent: string | null;
    successful: boolean;
    created_at: Date;
  };
}
