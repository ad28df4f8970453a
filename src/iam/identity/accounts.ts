import type { Insertable, Kysely } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError } from '../../lib/errors.ts';

/** What several features do with the rows of accounts and of their users. */

/** Who belongs to these accounts, and what is theirs, changes for one request at a time. */
export async function lockClients(tx: Transaction, clientIds: readonly number[]): Promise<void> {
  if (clientIds.length === 0) return;
  await tx.sql
    .selectFrom('clients')
    .select('id')
    .where('id', 'in', clientIds)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** A user with a place in the account that makes them. */
export async function insertUser(
  sql: Kysely<Tables>,
  user: Insertable<Tables['users']>,
  roleId: number,
): Promise<number> {
  const { id } = await sql.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow();
  await sql
    .insertInto('client_users')
    .values({ client_id: user.client_id, user_id: id, role_id: roleId, created_at: user.created_at })
    .execute();
  return id;
}

/** The platform's administrator, and the account that they work in. */
export async function platformAdministrator(
  sql: Kysely<Tables>,
): Promise<{ userId: number; clientId: number } | undefined> {
  return sql
    .selectFrom('users')
    .select(['id as userId', 'client_id as clientId'])
    .where('platform_administrator', '=', true)
    .orderBy('id')
    .executeTakeFirst();
}

/** @throws ConflictError when the platform's administrator works in that account */
export async function refusePlatforms(sql: Kysely<Tables>, clientId: number): Promise<void> {
  const administrator = await sql
    .selectFrom('users')
    .select('id')
    .where('client_id', '=', clientId)
    .where('platform_administrator', '=', true)
    .executeTakeFirst();
  if (administrator) throw new ConflictError(`Client ${clientId} is the platform administrator's own`);
}
