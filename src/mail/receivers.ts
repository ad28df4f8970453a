import type { Transaction } from '../db/database.ts';
import { ROLES } from '../requests/principal.ts';

const MOST_ADMINISTRATORS = 20;
const MOST_SETTINGS = 100;

/** Returns the addresses of the administrators of an account, the first 20. */
export async function administratorsOf(tx: Transaction, clientId: number): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'client_users.user_id')
    .select('users.email')
    .where('client_users.client_id', '=', clientId)
    .where('client_users.role_id', '=', ROLES.administrators.id)
    .where('client_users.is_active', '=', true)
    .where('users.is_active', '=', true)
    .where('users.pending', '=', false)
    .where('users.deleted_at', 'is', null)
    .orderBy('users.id')
    .limit(MOST_ADMINISTRATORS)
    .execute();
  return rows.map(({ email }) => email);
}

/** Whom a reseller wants to be told. */
export interface Subscriber {
  email: string;
  /** The notification setting. */
  id: number;
  /** The account that it is about. */
  client_id: number;
}

/** Returns whom the resellers of some accounts want to be told of this, each address once. */
export async function subscribersOf(
  tx: Transaction,
  clientIds: readonly number[],
  type: 'failed_login' | 'deletion_request',
): Promise<Subscriber[]> {
  return tx.sql
    .selectFrom('notification_settings as setting')
    .innerJoin('clients', 'clients.reseller_id', 'setting.reseller_id')
    .distinctOn('setting.email')
    .select(['setting.email', 'setting.id', 'clients.id as client_id'])
    .where('clients.id', 'in', clientIds)
    .where('setting.notification_type', '=', type)
    .where('setting.enabled', '=', true)
    .orderBy('setting.email')
    .orderBy('setting.id')
    .limit(MOST_SETTINGS)
    .execute();
}
