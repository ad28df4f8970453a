import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { type Principal, ROLES } from './principal.ts';

export interface TokenOwner {
  principal: Principal;
  secretHash: Buffer;
  expiresAt: Date | null;
}

/** A token that is not deleted, with the user it acts for. */
export async function findTokenOwner(sql: Kysely<Tables>, tokenId: number): Promise<TokenOwner | undefined> {
  const row = await sql
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .select([
      'api_tokens.id',
      'api_tokens.client_id',
      'api_tokens.user_id',
      'api_tokens.role_id',
      'api_tokens.secret_hash',
      'api_tokens.expires_at',
      'users.reseller_id',
      'users.platform_administrator',
    ])
    .where('api_tokens.id', '=', tokenId)
    .where('api_tokens.deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    secretHash: row.secret_hash,
    expiresAt: row.expires_at,
    principal: {
      tokenId: row.id,
      userId: row.user_id,
      clientId: row.client_id,
      roleId: row.role_id,
      resellerId: row.reseller_id ?? undefined,
      // A token of lesser role that the platform's administrator made is a token of lesser rights.
      platformAdministrator: row.platform_administrator && row.role_id === ROLES.administrators.id,
    },
  };
}
