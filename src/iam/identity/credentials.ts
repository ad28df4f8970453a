import { announceAll } from '../../db/changes.ts';
import type { Transaction } from '../../db/database.ts';

/** The topics on which changes of API tokens and logins are announced. */
export const TOKEN_TOPIC = 'token';
export const LOGIN_TOPIC = 'login';

/** API tokens and logins whose rights have changed or ended. */
export interface Credentials {
  tokens: number[];
  logins: number[];
}

/**
 * Tells every process that the rights of a user's credentials may have changed: their role, whether they are let in,
 * and the like. Call `forgetAll` of the authenticator with the answer after the commit.
 */
export async function announceUser(tx: Transaction, userId: number): Promise<Credentials> {
  return announced(tx, {
    tokens: await credentialsOf(tx, 'api_tokens', 'user_id', userId),
    logins: await credentialsOf(tx, 'login_sessions', 'user_id', userId),
  });
}

/** The same for API tokens alone. */
export async function announceTokens(tx: Transaction, tokens: number[]): Promise<Credentials> {
  return announced(tx, { tokens, logins: [] });
}

/** The same for everybody in an account. */
export async function announceClient(tx: Transaction, clientId: number): Promise<Credentials> {
  return announced(tx, {
    tokens: await credentialsOf(tx, 'api_tokens', 'client_id', clientId),
    logins: await credentialsOf(tx, 'login_sessions', 'client_id', clientId),
  });
}

/** Ends logins at once: those of a user and those that they made for others, of one family, or made by one API token. */
export async function endLogins(
  tx: Transaction,
  which: { userId: number } | { family: string } | { tokenId: number },
): Promise<Credentials> {
  const rows = await tx.sql
    .deleteFrom('login_sessions')
    .where((login) => {
      if ('family' in which) return login('family', '=', which.family);
      if ('tokenId' in which) return login('token_id', '=', which.tokenId);
      return login.or([login('user_id', '=', which.userId), login('maker_id', '=', which.userId)]);
    })
    .returning('id')
    .execute();
  return announced(tx, { tokens: [], logins: rows.map(({ id }) => id) });
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
