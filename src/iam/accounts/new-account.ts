import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';

export interface Account {
  clientId: number;
  userId: number;
}

/** A client account with its administrator and its default project. */
export async function insertAccount(
  sql: Kysely<Tables>,
  account: {
    company: string;
    resellerId: number;
    administrator: { email: string; resellerId: number | null; platformAdministrator: boolean };
    now: Date;
  },
): Promise<Account> {
  const { company, resellerId, administrator, now } = account;
  const { id: clientId } = await sql
    .insertInto('clients')
    .values({ company, reseller_id: resellerId, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: userId } = await sql
    .insertInto('users')
    .values({
      client_id: clientId,
      reseller_id: administrator.resellerId,
      email: administrator.email,
      name: null,
      platform_administrator: administrator.platformAdministrator,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql
    .insertInto('projects')
    .values({
      client_id: clientId,
      name: 'Default',
      description: null,
      is_default: true,
      created_at: now,
      deleted_at: null,
    })
    .execute();
  return { clientId, userId };
}
