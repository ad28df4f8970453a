import type { Generated, GeneratedAlways } from 'kysely';

export interface WebhookTables {
  /** Where an account wants its events sent. */
  webhooks: {
    id: string;
    client_id: number;
    created_by: number;
    /** Made by the platform administrator, who sees the events of all accounts. */
    all_accounts: boolean;
    url: string;
    types: string[];
    description: string;
    /** Encrypted; null if nobody can decrypt it any more. */
    secret: string | null;
    /** Signs as well until `previous_until`. */
    previous_secret: string | null;
    previous_until: Date | null;
    enabled: boolean;
    disabled_reason: 'failing' | 'gone' | null;
    /** Earlier events are not sent. */
    after_position: number;
    created_at: Date;
    updated_at: Date;
    revision: Generated<number>;
  };
  /** How it goes. Whoever changes deliveries of a webhook has locked its row here. */
  webhook_sending: {
    webhook_id: string;
    client_id: number;
    /** Attempts that failed since the last that did not. */
    failures: Generated<number>;
    failing_since: Date | null;
    /** When there may be something to send; null if not before something happens. */
    next_at: Date | null;
    /** By the clock of the database. Webhooks take turns. */
    taken_at: Generated<Date>;
  };
  webhook_deliveries: {
    id: GeneratedAlways<number>;
    webhook_id: string;
    client_id: number;
    event_id: string;
    type: string;
    subject: string;
    /** The event in JSON, as it is signed and sent. */
    body: string;
    /** Whether later events of the subject wait for it. */
    in_line: boolean;
    state: 'pending' | 'delivered' | 'failed';
    attempts: Generated<number>;
    /** Null while it waits for another of its subject, and when it has ended. */
    due_at: Date | null;
    expires_at: Date;
    /** Who is sending it now. */
    worker_id: string | null;
    created_at: Date;
    attempted_at: Date | null;
    ended_at: Date | null;
    /** The last answer. */
    status: number | null;
    fault: string | null;
    answer: string | null;
  };
}
