import type { Insertable, Kysely } from 'kysely';
import { insertDefaultProject } from '../../cloud/projects/in-transaction.ts';
import type { Tables } from '../../db/tables.ts';
import { ROLES } from '../../requests/principal.ts';
import { insertUser } from '../identity/in-transaction.ts';

export interface Account {
  clientId: number;
  userId: number;
}

/** Inserts a client account with its administrator and its default project. */
export async function insertAccount(
  sql: Kysely<Tables>,
  account: {
    company: string;
    resellerId: number;
    administrator: Omit<Insertable<Tables['users']>, 'client_id' | 'created_at'>;
    details?: Partial<
      Pick<Insertable<Tables['clients']>, 'custom_id' | 'country_code' | 'is_test' | 'seller_id' | 'phone'>
    >;
    now: Date;
  },
): Promise<Account> {
  const { company, resellerId, administrator, details, now } = account;
  const { id: clientId } = await sql
    .insertInto('clients')
    .values({
      company,
      reseller_id: resellerId,
      email: administrator.email,
      name: administrator.name ?? null,
      created_at: now,
      ...details,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const user = { ...administrator, client_id: clientId, created_at: now };
  const userId = await insertUser(sql, user, ROLES.administrators.id);
  await insertDefaultProject(sql, clientId, now);
  return { clientId, userId };
}
