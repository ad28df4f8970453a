import type { Generated } from 'kysely';

export interface MailTables {
  mails: {
    id: string;
    kind: string;
    receiver: string;
    /** The account that it is about; its reseller's name is in it. */
    client_id: number;
    /** What its templates are given, encrypted; null once it has ended. */
    data: unknown;
    /** While it is kept, there is no other with the same text. */
    once: string | null;
    state: Generated<'pending' | 'sent' | 'failed'>;
    attempts: Generated<number>;
    /** Null when it has ended. */
    due_at: Date | null;
    /** It is given up then. */
    expires_at: Date;
    /** Who is sending it now. */
    worker_id: string | null;
    created_at: Date;
    ended_at: Date | null;
    /** Why the last attempt failed. */
    fault: string | null;
  };
}
