import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** A credential that is right, of somebody who may not get in. */
export interface ShutOut {
  shutOut: 'paused' | 'blocked';
  /** Of an API token: whoever doesn't know the secret is told nothing. */
  secretHash: Buffer | undefined;
}

/** Asked only where no owner was found. Undefined also when the user or account is gone. */
export async function findShutOutToken(sql: Kysely<Tables>, id: number): Promise<ShutOut | undefined> {
  const row = await sql
    .selectFrom('api_tokens as credential')
    .innerJoin('users', 'users.id', 'credential.user_id')
    .innerJoin('clients', 'clients.id', 'credential.client_id')
    .select(['clients.status', 'credential.secret_hash'])
    .where('credential.id', '=', id)
    .where('credential.deleted_at', 'is', null)
    .where('users.deleted_at', 'is', null)
    .where('clients.deleted_at', 'is', null)
    .executeTakeFirst();
  return row && { shutOut: reasonOf(row.status), secretHash: row.secret_hash };
}

export async function findShutOutLogin(sql: Kysely<Tables>, id: number): Promise<ShutOut | undefined> {
  const row = await sql
    .selectFrom('login_sessions as credential')
    .innerJoin('users', 'users.id', 'credential.user_id')
    .innerJoin('clients', 'clients.id', 'credential.client_id')
    .select('clients.status')
    .where('credential.id', '=', id)
    .where('users.deleted_at', 'is', null)
    .where('clients.deleted_at', 'is', null)
    .executeTakeFirst();
  return row && { shutOut: reasonOf(row.status), secretHash: undefined };
}

function reasonOf(status: 'active' | 'paused'): ShutOut['shutOut'] {
  return status === 'paused' ? 'paused' : 'blocked';
}
