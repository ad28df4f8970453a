import type { Insertable, Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { ROLES } from '../identity/principal.ts';
import type { Language } from '../identity/tables.ts';

export interface Account {
  clientId: number;
  userId: number;
}

export interface NewAdministrator {
  email: string;
  resellerId: number | null;
  platformAdministrator: boolean;
  name?: string | null | undefined;
  phone?: string | null | undefined;
  lang?: Language | undefined;
  /** Of a password that somebody else chose. */
  passwordHash?: string | undefined;
}

/** A client account with its administrator and its default project. */
export async function insertAccount(
  sql: Kysely<Tables>,
  account: {
    company: string;
    resellerId: number;
    administrator: NewAdministrator;
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
  const { id: userId } = await sql
    .insertInto('users')
    .values({
      client_id: clientId,
      reseller_id: administrator.resellerId,
      email: administrator.email,
      name: administrator.name ?? null,
      platform_administrator: administrator.platformAdministrator,
      phone: administrator.phone ?? null,
      password_hash: administrator.passwordHash ?? null,
      password_given: administrator.passwordHash !== undefined,
      ...(administrator.lang && { lang: administrator.lang }),
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql
    .insertInto('client_users')
    .values({ client_id: clientId, user_id: userId, role_id: ROLES.administrators.id, created_at: now })
    .execute();
  await sql
    .insertInto('projects')
    .values({
      client_id: clientId,
      name: 'Default',
      description: null,
      is_default: true,
      created_at: now,
    })
    .execute();
  return { clientId, userId };
}
