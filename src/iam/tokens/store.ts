import { type ExpressionBuilder, type InferResult, sql } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { type Principal, ROLES } from '../../requests/principal.ts';

/** How long an expired token stays visible; then it counts as deleted. */
const EXPIRED_KEPT_MS = 30 * 24 * 3_600_000;
/** Deleted tokens are kept, so a list of them needs a limit. */
const MAX_LISTED = 1000;

export interface TokenFilter {
  clientId: number;
  /** Only tokens of this user. */
  ownedBy?: number | undefined;
  issuedBy?: number | undefined;
  notIssuedBy?: number | undefined;
  roleId?: number | undefined;
  deleted: boolean;
}

type TokenTable = ExpressionBuilder<Tables, 'api_tokens'>;

function exists(token: TokenTable, now: Date) {
  return token.and([
    token('api_tokens.deleted_at', 'is', null),
    token.or([
      token('api_tokens.expires_at', 'is', null),
      token('api_tokens.expires_at', '>', new Date(now.getTime() - EXPIRED_KEPT_MS)),
    ]),
  ]);
}

function tokens(db: Sql, clientId: number) {
  return db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .select((token) => [
      // The account does not know the name of a user who was only invited into it.
      token
        .case()
        .when('users.client_id', '=', token.ref('api_tokens.client_id'))
        .then(token.ref('users.name'))
        .end()
        .as('user_name'),
      'api_tokens.id',
      'api_tokens.client_id',
      'api_tokens.user_id',
      'api_tokens.role_id',
      'api_tokens.name',
      'api_tokens.description',
      'api_tokens.bootstrap',
      'api_tokens.expires_at',
      'api_tokens.created_at',
      'api_tokens.last_used_at',
      'api_tokens.deleted_at',
      'api_tokens.project_id',
      'api_tokens.operations',
      'api_tokens.address_ranges',
      'users.email as user_email',
      'users.reseller_id as user_reseller_id',
      'users.platform_administrator as user_platform_administrator',
      'users.deleted_at as user_deleted_at',
    ])
    .where('api_tokens.client_id', '=', clientId);
}

export type TokenRow = InferResult<ReturnType<typeof tokens>>[number];

/** Newest first, 1000 at most. */
export async function listTokens(db: Sql, filter: TokenFilter, now: Date): Promise<TokenRow[]> {
  let matching = tokens(db, filter.clientId).where((token) =>
    filter.deleted ? token.not(exists(token, now)) : exists(token, now),
  );
  if (filter.ownedBy !== undefined) matching = matching.where('api_tokens.user_id', '=', filter.ownedBy);
  if (filter.issuedBy !== undefined) matching = matching.where('api_tokens.user_id', '=', filter.issuedBy);
  if (filter.notIssuedBy !== undefined) matching = matching.where('api_tokens.user_id', '!=', filter.notIssuedBy);
  if (filter.roleId !== undefined) matching = matching.where('api_tokens.role_id', '=', filter.roleId);
  return matching.orderBy('api_tokens.id', 'desc').limit(MAX_LISTED).execute();
}

/** Returns a token that is neither deleted nor expired long ago. */
export async function findToken(db: Sql, clientId: number, id: number, now: Date) {
  return tokens(db, clientId)
    .where('api_tokens.id', '=', id)
    .where((token) => exists(token, now))
    .executeTakeFirst();
}

/**
 * Counts valid tokens, except the bootstrap token. Call it with the account locked, so that two requests can't both take
 * the last place.
 */
export async function countValid(tx: Transaction, clientId: number, now: Date): Promise<number> {
  const { count } = await tx.sql
    .selectFrom('api_tokens')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('client_id', '=', clientId)
    .where('bootstrap', '=', false)
    .where('deleted_at', 'is', null)
    .where((token) => token.or([token('expires_at', 'is', null), token('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Returns the account from which a token of `clientId` is made: the caller's own, that of the person who logged in as
 * somebody there, or the one from which the caller's own token was made. Null if it is `clientId` itself, or for the platform administrator.
 */
export async function makerOf(tx: Transaction, principal: Principal, clientId: number): Promise<number | null> {
  if (principal.platformAdministrator) return null;
  if (principal.clientId !== clientId) return principal.clientId;
  const { rows } = await sql<{ maker: number | null }>`
    with login as (select user_id, maker_id, token_id from login_sessions where id = ${principal.loginId ?? null})
    select coalesce(
      (select client_id from login join users on users.id = maker_id
        where maker_id <> user_id and client_id <> ${clientId} and not platform_administrator),
      (select maker_client_id from api_tokens
        where id = coalesce(${principal.tokenId ?? null}::bigint, (select token_id from login)))) as maker`.execute(
    tx.sql,
  );
  return rows[0]?.maker ?? null;
}

export async function markDeleted(tx: Transaction, id: number): Promise<void> {
  await tx.sql.updateTable('api_tokens').set({ deleted_at: tx.now }).where('id', '=', id).execute();
}

/**
 * Returns the first administrator whom the account made itself and who has no rights elsewhere; never one who
 * joined from another account.
 */
export async function findAccountAdministrator(db: Sql, clientId: number) {
  const row = await db
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'client_users.user_id')
    .select('users.id')
    .where('client_users.client_id', '=', clientId)
    .where('users.client_id', '=', clientId)
    .where('client_users.role_id', '=', ROLES.administrators.id)
    .where('users.reseller_id', 'is', null)
    .where('users.platform_administrator', '=', false)
    .where('users.is_active', '=', true)
    .where('users.pending', '=', false)
    .where('client_users.is_active', '=', true)
    .orderBy('users.id')
    .executeTakeFirst();
  return row?.id;
}

/** Marks tokens as deleted that expired so long ago that they count as deleted. */
export async function deleteExpired(db: Sql, now: Date): Promise<void> {
  await db
    .updateTable('api_tokens')
    .set({ deleted_at: now })
    .where('deleted_at', 'is', null)
    .where('expires_at', '<=', new Date(now.getTime() - EXPIRED_KEPT_MS))
    .execute();
}

/** Records when tokens were last used. A later time in the row stays. */
export async function recordUses(db: Sql, uses: readonly { tokenId: number; at: Date }[]): Promise<void> {
  await sql`
    update api_tokens set last_used_at = greatest(last_used_at, used.at)
      from unnest(${uses.map(({ tokenId }) => tokenId)}::bigint[], ${uses.map(({ at }) => at)}::timestamptz[]) as used (id, at)
     where api_tokens.id = used.id`.execute(db);
}
