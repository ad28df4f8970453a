import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';

export interface AccountRow {
  id: number;
  company: string;
  /** Of the account's first user, its administrator. */
  email: string;
  name: string | null;
}

export async function findAccount(db: Kysely<Tables>, clientId: number): Promise<AccountRow | undefined> {
  return db
    .selectFrom('clients')
    .innerJoin('users', 'users.client_id', 'clients.id')
    .select(['clients.id', 'clients.company', 'users.email', 'users.name'])
    .where('clients.id', '=', clientId)
    .orderBy('users.id')
    .executeTakeFirst();
}
