import type { Generated } from 'kysely';

export interface UserActionTables {
  /** The address to which an account's actions are sent. */
  user_action_subscriptions: {
    id: Generated<number>;
    client_id: number;
    url: string;
    auth_header_name: string;
    auth_header_value: string;
    /** Failed attempts since the last success. */
    failures: Generated<number>;
    /** When to look next for something to send. */
    due_at: Date;
    /** Nothing from before this time is left to send. */
    sent_until: Date;
    created_at: Date;
  };
}
