import type { Generated } from 'kysely';

export interface ClientTables {
  resellers: { id: Generated<number>; name: string; created_at: Date; deleted_at: Generated<Date | null> };
  clients: {
    id: Generated<number>;
    reseller_id: number;
    company: string;
    /** The contact person of the account. */
    email: Generated<string>;
    name: Generated<string | null>;
    phone: Generated<string | null>;
    /** The reseller's own ID for the account. */
    custom_id: Generated<string | null>;
    country_code: Generated<string | null>;
    is_test: Generated<boolean>;
    seller_id: Generated<number | null>;
    /** Nobody can sign in to a paused account. */
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
