import type { ExpressionBuilder, Insertable, Kysely } from 'kysely';
import { announceAll } from '../../db/changes.ts';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError, InvalidError } from '../../lib/errors.ts';

/** What several features do with the rows of accounts and their users. */

/** Locks accounts, so that one request at a time changes their users and what these own. */
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

/** Inserts a user as a member of the account that makes them. */
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

/** Returns the platform administrator and their account. */
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

/** @throws ConflictError if the account is the platform administrator's own */
export async function refusePlatforms(sql: Kysely<Tables>, clientId: number): Promise<void> {
  const administrator = await sql
    .selectFrom('users')
    .select('id')
    .where('client_id', '=', clientId)
    .where('platform_administrator', '=', true)
    .executeTakeFirst();
  if (administrator) throw new ConflictError(`Client ${clientId} is the platform administrator's own`);
}

/** The topics on which changes of API tokens and logins are announced. */
export const TOKEN_TOPIC = 'token';
export const LOGIN_TOPIC = 'login';

/** API tokens and logins whose rights have changed or ended. */
export interface Credentials {
  tokens: number[];
  logins: number[];
}

/**
 * Announces that the rights of a user's credentials in these accounts may have changed, such as their role or
 * whether they are blocked. Ends logins in another user's name that needed those rights: they only exist in
 * the home account, and another account must not gain them. After the commit, call the authenticator's
 * `forget` with the result.
 */
export async function announceUser(
  tx: Transaction,
  userId: number,
  clientIds: readonly number[],
): Promise<Credentials> {
  const changed = await announced(tx, {
    tokens: await credentialsOf(tx, 'api_tokens', 'user_id', userId),
    logins: await credentialsOf(tx, 'login_sessions', 'user_id', userId),
  });
  const user = await tx.sql
    .selectFrom('users')
    .select('client_id')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (!user || !clientIds.includes(user.client_id)) return changed;
  return together(changed, await endLogins(tx, { actingUserId: userId }));
}

/** Announces changes of API tokens only. */
export async function announceTokens(tx: Transaction, tokens: number[]): Promise<Credentials> {
  return announced(tx, { tokens, logins: [] });
}

/** Announces changes for everybody in an account. */
export async function announceClient(tx: Transaction, clientId: number): Promise<Credentials> {
  const changed = await announced(tx, {
    tokens: await credentialsOf(tx, 'api_tokens', 'client_id', clientId),
    logins: await credentialsOf(tx, 'login_sessions', 'client_id', clientId),
  });
  return together(changed, await endLogins(tx, { actingClientId: clientId }));
}

/**
 * Selects logins: by a user or in their name, in some accounts, of one family, from one API token, or in
 * another user's name.
 */
type Which =
  | { userId: number }
  /** Logins of this user in these accounts, whoever made them. */
  | { memberId: number; clientIds: readonly number[] }
  | { family: string }
  | { tokenId: number }
  /** Logins that this user made in the name of others. */
  | { actingUserId: number }
  /** Logins that users of this account made in the name of others, or others in the name of its users. */
  | { actingClientId: number };

/** Ends logins immediately. */
export async function endLogins(tx: Transaction, which: Which): Promise<Credentials> {
  // A login that one of these is just creating becomes visible only once they are locked, after its commit.
  await tx.sql
    .selectFrom('login_sessions')
    .select('id')
    .where(matches(which))
    .orderBy('id')
    .forUpdate()
    .execute();
  const rows = await tx.sql.deleteFrom('login_sessions').where(matches(which)).returning('id').execute();
  return announced(tx, { tokens: [], logins: rows.map(({ id }) => id) });
}

function matches(which: Which) {
  return (login: ExpressionBuilder<Tables, 'login_sessions'>) => {
    if ('family' in which) return login('family', '=', which.family);
    if ('tokenId' in which) return login('token_id', '=', which.tokenId);
    if ('memberId' in which) {
      const there = login('client_id', '=', login.fn.any(login.val([...which.clientIds])));
      return login.and([login('user_id', '=', which.memberId), there]);
    }
    if ('userId' in which) {
      return login.or([login('user_id', '=', which.userId), login('maker_id', '=', which.userId)]);
    }
    const acting = login('maker_id', '!=', login.ref('user_id'));
    if ('actingUserId' in which) return login.and([acting, login('maker_id', '=', which.actingUserId)]);
    const makers = login.selectFrom('users').select('id').where('client_id', '=', which.actingClientId);
    return login.and([
      acting,
      login.or([login('client_id', '=', which.actingClientId), login('maker_id', 'in', makers)]),
    ]);
  };
}

export function together(...all: Credentials[]): Credentials {
  return {
    tokens: all.flatMap(({ tokens }) => tokens),
    logins: all.flatMap(({ logins }) => logins),
  };
}

async function credentialsOf(
  tx: Transaction,
  table: 'api_tokens' | 'login_sessions',
  column: 'user_id' | 'client_id',
  id: number,
): Promise<number[]> {
  const rows = await tx.sql.selectFrom(table).select('id').where(column, '=', id).execute();
  return rows.map((row) => row.id);
}

async function announced(tx: Transaction, credentials: Credentials): Promise<Credentials> {
  await announceAll(tx.client, TOKEN_TOPIC, credentials.tokens);
  await announceAll(tx.client, LOGIN_TOPIC, credentials.logins);
  return credentials;
}

/** Another user has the address. The error reveals that this user exists. */
export class AddressTakenError extends InvalidError {
  override get name(): string {
    return 'InvalidError';
  }

  constructor(field: string) {
    super({ [field]: ['User with this email already exists.'] });
  }
}
