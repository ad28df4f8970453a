import { type ExpressionBuilder, sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { announce, type Credentials, together } from '../identity/service.ts';

/**
 * Tells every process that the rights of a user's credentials in these accounts may have changed, such as the role or a
 * block. Ends logins as somebody else that needed those rights: a user has them only in the home account, and another
 * account must not change that.
 */
export async function announceUser(tx: Transaction, userId: number, clientIds: readonly number[]) {
  const changed = await announce(tx, await credentialsOf(tx, 'user_id', userId));
  const user = await tx.sql.selectFrom('users').select('client_id').where('id', '=', userId).executeTakeFirst();
  if (!user || !clientIds.includes(user.client_id)) return changed;
  return together(changed, await endLogins(tx, { actingUserId: userId }));
}

/** Does the same for everybody in an account. */
export async function announceClient(tx: Transaction, clientId: number): Promise<Credentials> {
  const changed = await announce(tx, await credentialsOf(tx, 'client_id', clientId));
  return together(changed, await endLogins(tx, { actingClientId: clientId }));
}

/** Logins by a user or in their name, in some accounts, of one family, from API tokens, or as somebody else. */
type Which =
  | { userId: number }
  /** Logins of this user in these accounts, whoever created them. */
  | { memberId: number; clientIds: readonly number[] }
  | { family: string }
  | { ids: readonly number[] }
  | { tokenIds: readonly number[] }
  | { actingUserId: number }
  /** Logins by users of this account in the name of others, or by others in the name of its users. */
  | { actingClientId: number }
  /** Logins that this identity provider vouches for. */
  | { providerId: string }
  /** Logins in this account. */
  | { clientId: number };

/** Ends logins at once. */
export async function endLogins(tx: Transaction, which: Which): Promise<Credentials> {
  // A login that is just being created from one of these appears once they are locked, after its commit.
  await tx.sql.selectFrom('login_sessions').select('id').where(matches(which)).orderBy('id').forUpdate().execute();
  const rows = await tx.sql.deleteFrom('login_sessions').where(matches(which)).returning('id').execute();
  return announce(tx, { tokens: [], logins: rows.map(({ id }) => id) });
}

/**
 * Ends logins of a user by the same maker, so that not more than `most` are left: those whose refresh tokens expire first,
 * which is to say, those that were refreshed the longest time ago. `made` is the one that was just made, and stays.
 */
export async function endLongestUnused(
  tx: Transaction,
  { userId, makerId, made, most }: { userId: number; makerId: number; made: number; most: number },
): Promise<Credentials> {
  // A locked login is being refreshed. It is skipped, and the next login ends it.
  const { rows } = await sql<{ id: number }>`
    delete from login_sessions where id in (
      select id from login_sessions where id in (
        select id from login_sessions where user_id = ${userId} and maker_id = ${makerId} and id != ${made}
        order by expires_at desc, id desc offset ${most - 1})
      for update skip locked)
    returning id`.execute(tx.sql);
  return announce(tx, { tokens: [], logins: rows.map(({ id }) => id) });
}

function matches(which: Which) {
  return (login: ExpressionBuilder<Tables, 'login_sessions'>) => {
    if ('family' in which) return login('family', '=', which.family);
    if ('providerId' in which) return login('provider_id', '=', which.providerId);
    if ('ids' in which) return login('id', '=', login.fn.any(login.val([...which.ids])));
    if ('tokenIds' in which) return login('token_id', '=', login.fn.any(login.val([...which.tokenIds])));
    if ('memberId' in which) {
      const there = login('client_id', '=', login.fn.any(login.val([...which.clientIds])));
      return login.and([login('user_id', '=', which.memberId), there]);
    }
    if ('userId' in which) {
      return login.or([login('user_id', '=', which.userId), login('maker_id', '=', which.userId)]);
    }
    if ('clientId' in which) return login('client_id', '=', which.clientId);
    const acting = login('maker_id', '!=', login.ref('user_id'));
    if ('actingUserId' in which) return login.and([acting, login('maker_id', '=', which.actingUserId)]);
    const makers = login.selectFrom('users').select('id').where('client_id', '=', which.actingClientId);
    return login.and([
      acting,
      login.or([login('client_id', '=', which.actingClientId), login('maker_id', 'in', makers)]),
    ]);
  };
}

/** Tokens that were deleted have been announced then. */
async function credentialsOf(tx: Transaction, column: 'user_id' | 'client_id', id: number): Promise<Credentials> {
  const tokens = tx.sql.selectFrom('api_tokens').select('id').where(column, '=', id);
  const logins = tx.sql.selectFrom('login_sessions').select('id').where(column, '=', id);
  const found = [await tokens.where('deleted_at', 'is', null).execute(), await logins.execute()];
  const [tokenIds = [], loginIds = []] = found.map((rows) => rows.map((row) => row.id));
  return { tokens: tokenIds, logins: loginIds };
}
