import type { Generated } from 'kysely';

export interface ClientTables {
  resellers: { id: Generated<number>; name: string; created_at: Date };
  clients: {
    id: Generated<number>;
    reseller_id: number;
    company: string;
    /** Whom to ask about the account. */
    email: Generated<string>;
    name: Generated<string | null>;
    phone: Generated<string | null>;
    /** The reseller's own number for it. */
    custom_id: Generated<string | null>;
    country_code: Generated<string | null>;
    is_test: Generated<boolean>;
    seller_id: Generated<number | null>;
    /** Nobody gets into a paused account. */
    status: Generated<'active' | 'paused'>;
    created_at: Date;
    deleted_at: Generated<Date | null>;
  };
  client_status_changes: {
    id: Generated<number>;
    client_id: number;
    old_status: string;
    new_status: string;
    changed_at: Date;
  };
}
