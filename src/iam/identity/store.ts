import { type InferResult, type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { type Principal, ROLES } from './principal.ts';
import { lesserRole } from './roles.ts';

/** A token that is not deleted, with the user it acts for. Undefined also when that user or account is shut out. */
export async function findTokenOwner(db: Kysely<Tables>, tokenId: number) {
  const row = await members(db)
    .innerJoin('api_tokens', (on) =>
      on
        .onRef('api_tokens.user_id', '=', 'client_users.user_id')
        .onRef('api_tokens.client_id', '=', 'client_users.client_id'),
    )
    .select([
      'api_tokens.id as tokenId',
      'api_tokens.role_id as most',
      'api_tokens.secret_hash as secretHash',
      'api_tokens.expires_at as expiresAt',
    ])
    .where('api_tokens.id', '=', tokenId)
    .where('api_tokens.deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const { secretHash, expiresAt, tokenId: id } = row;
  const principal: Principal = { tokenId: id, loginId: undefined, ...rightsOf(row) };
  return { secretHash, expiresAt, principal };
}

/** A login that wasn't ended, with its user. Undefined also when that user or account is shut out. */
export async function findLoginOwner(db: Kysely<Tables>, loginId: number) {
  const row = await members(db)
    .innerJoin('login_sessions', (on) =>
      on
        .onRef('login_sessions.user_id', '=', 'client_users.user_id')
        .onRef('login_sessions.client_id', '=', 'client_users.client_id'),
    )
    .select([
      'login_sessions.id as loginId',
      'login_sessions.role_id as most',
      'login_sessions.expires_at as expiresAt',
      'login_sessions.maker_id as makerId',
      'login_sessions.token_id as madeByToken',
    ])
    .where('login_sessions.id', '=', loginId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { expiresAt, loginId: id } = row;
  const inPerson = row.makerId === row.user_id && row.madeByToken === null;
  const principal: Principal = { tokenId: undefined, loginId: id, inPerson, ...rightsOf(row) };
  return { expiresAt, principal };
}

/** Users that may get in, by the accounts they belong to. */
function members(db: Kysely<Tables>) {
  return db
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'client_users.user_id')
    .innerJoin('clients', 'clients.id', 'client_users.client_id')
    .select([
      'client_users.client_id',
      'client_users.user_id',
      'client_users.role_id',
      'users.client_id as home_id',
      'users.reseller_id',
      'users.platform_administrator',
      sql<string[]>`array(
        select service from client_services
         where client_id = clients.id and not (enabled and status in ('active', 'trial')))`.as('shut'),
    ])
    .where('client_users.is_active', '=', true)
    .where('users.is_active', '=', true)
    .where('users.pending', '=', false)
    .where('users.deleted_at', 'is', null)
    .where('clients.status', '=', 'active')
    .where('clients.deleted_at', 'is', null);
}

type MemberRow = InferResult<ReturnType<typeof members>>[number] & {
  /** The most rights that the credential may have. */
  most: number;
};

/** What the credential and the user's role in the account both allow. Rights beyond accounts hold at home alone. */
function rightsOf(row: MemberRow) {
  const roleId = lesserRole(row.most, row.role_id);
  const home = row.client_id === row.home_id;
  return {
    userId: row.user_id,
    clientId: row.client_id,
    roleId,
    resellerId: home ? (row.reseller_id ?? undefined) : undefined,
    // A token of lesser role that the platform's administrator made is a token of lesser rights.
    platformAdministrator: home && row.platform_administrator && roleId === ROLES.administrators.id,
    ...(row.shut.length > 0 && { shutServices: row.shut }),
  };
}
