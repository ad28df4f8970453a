import { type InferResult, type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { type Principal, ROLES } from '../../requests/principal.ts';
import { lesserRole } from './schema.ts';

/** Returns an API token and the user it acts for. Undefined if that user or account is deleted. */
export async function findTokenOwner(db: Kysely<Tables>, tokenId: number) {
  const row = await places(db)
    .innerJoin('api_tokens', (on) =>
      on.onRef('api_tokens.user_id', '=', 'users.id').onRef('api_tokens.client_id', '=', 'clients.id'),
    )
    .select([
      'api_tokens.role_id as most',
      'api_tokens.secret_hash as secretHash',
      'api_tokens.expires_at as expiresAt',
      'api_tokens.deleted_at as deletedAt',
    ])
    .where('api_tokens.id', '=', tokenId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { secretHash, expiresAt, deletedAt } = row;
  const access =
    deletedAt === null ? accessOf(row, { tokenId, loginId: undefined }) : shutOutAs('deleted', row);
  return { secretHash, expiresAt, ...access };
}

/** Returns a login that has not ended, with its user. Undefined also if that user or account is deleted. */
export async function findLoginOwner(db: Kysely<Tables>, loginId: number) {
  const row = await places(db)
    .innerJoin('login_sessions', (on) =>
      on
        .onRef('login_sessions.user_id', '=', 'users.id')
        .onRef('login_sessions.client_id', '=', 'clients.id'),
    )
    .select([
      'login_sessions.role_id as most',
      'login_sessions.expires_at as expiresAt',
      'login_sessions.key',
      'login_sessions.refresh_id as refreshId',
      'login_sessions.maker_id as makerId',
      'login_sessions.token_id as madeByToken',
    ])
    .where('login_sessions.id', '=', loginId)
    .executeTakeFirst();
  if (!row) return undefined;
  const inPerson = row.makerId === row.user_id && row.madeByToken === null;
  const { expiresAt, key, refreshId } = row;
  return { expiresAt, key, refreshId, ...accessOf(row, { tokenId: undefined, loginId, inPerson }) };
}

/**
 * Combines every user with every account, and with the user's role there, if any. The credential selects
 * both.
 */
function places(db: Kysely<Tables>) {
  return db
    .selectFrom('users')
    .innerJoin('clients', (on) => on.onTrue())
    .leftJoin('client_users', (on) =>
      on.onRef('client_users.user_id', '=', 'users.id').onRef('client_users.client_id', '=', 'clients.id'),
    )
    .select([
      'clients.id as client_id',
      'clients.status',
      'users.id as user_id',
      'client_users.role_id',
      'users.client_id as home_id',
      'users.reseller_id',
      'users.platform_administrator',
      sql<boolean>`client_users.is_active and users.is_active and not users.pending`.as('let_in'),
      sql<string[]>`array(
        select service from client_services
         where client_id = clients.id and not (enabled and status in ('active', 'trial')))`.as('shut'),
    ])
    .where('users.deleted_at', 'is', null)
    .where('clients.deleted_at', 'is', null);
}

type Membership = InferResult<ReturnType<typeof places>>[number] & {
  /** The most rights that the credential may have. */
  most: number;
};
type Credential = Pick<Principal, 'tokenId' | 'loginId' | 'inPerson'>;
interface ShutOut extends Pick<Principal, 'clientId' | 'userId'> {
  shutOut: 'paused' | 'blocked' | 'deleted';
}
type Access = { principal: Principal } | ShutOut;

const shutOutAs = (shutOut: ShutOut['shutOut'], row: Membership): ShutOut => ({
  shutOut,
  clientId: row.client_id,
  userId: row.user_id,
});

/**
 * Returns the rights that both the credential and the user's role in the account allow. Rights beyond
 * accounts only exist in the home account.
 */
function accessOf(row: Membership, credential: Credential): Access {
  if (row.status === 'paused') return shutOutAs('paused', row);
  if (!row.let_in || row.role_id === null) return shutOutAs('blocked', row);
  const roleId = lesserRole(row.most, row.role_id);
  const home = row.client_id === row.home_id;
  const principal = {
    ...credential,
    userId: row.user_id,
    clientId: row.client_id,
    roleId,
    resellerId: home ? (row.reseller_id ?? undefined) : undefined,
    // A token with a lesser role has fewer rights, even if the platform administrator made it.
    platformAdministrator: home && row.platform_administrator && roleId === ROLES.administrators.id,
    ...(row.shut.length > 0 && { shutServices: row.shut }),
  };
  return { principal };
}
