import { sql } from 'kysely';
import type { Transaction } from '../db/database.ts';
import { ROLES } from '../requests/principal.ts';

const MOST_ADMINISTRATORS = 20;
const MOST_SETTINGS = 100;

/** Returns the administrators of accounts, the first 20 of each. */
export async function administratorsOf(
  tx: Transaction,
  clientIds: readonly number[],
): Promise<{ client_id: number; email: string }[]> {
  const { rows } = await sql<{ client_id: number; email: string }>`
    select client_id, email from (
      select client_users.client_id, users.email,
        row_number() over (partition by client_users.client_id order by users.id) as place
      from client_users join users on users.id = client_users.user_id
      where client_users.client_id = any(${[...clientIds]}::bigint[]) and client_users.role_id = ${ROLES.administrators.id}
        and client_users.is_active and users.is_active and not users.pending and users.deleted_at is null
    ) as administrators
    where place <= ${MOST_ADMINISTRATORS}`.execute(tx.sql);
  return rows;
}

/** Returns whom the resellers of some accounts want to be told of this, each address once. */
export async function subscribersOf(
  tx: Transaction,
  clientIds: readonly number[],
  type: 'failed_login' | 'deletion_request',
) {
  return tx.sql
    .selectFrom('notification_settings as setting')
    .innerJoin('clients', 'clients.reseller_id', 'setting.reseller_id')
    .distinctOn('setting.email')
    .select([
      'setting.email',
      'setting.id',
      sql<string>`coalesce(setting.key, '')`.as('key'),
      'clients.id as client_id',
    ])
    .where('clients.id', 'in', clientIds)
    .where('setting.notification_type', '=', type)
    .where('setting.enabled', '=', true)
    .orderBy('setting.email')
    .orderBy('setting.id')
    .limit(MOST_SETTINGS)
    .execute();
}
