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

export function together(...all: Credentials[]): Credentials {
  return {
    tokens: all.flatMap(({ tokens }) => tokens),
    logins: all.flatMap(({ logins }) => logins),
  };
}

/**
 * Tells every process that the rights of these credentials have changed or ended. After the commit, pass the result
 * to the authenticator's `forget`.
 */
export async function announce(tx: Transaction, credentials: Credentials): Promise<Credentials> {
  await announceAll(tx.client, TOKEN_TOPIC, credentials.tokens);
  await announceAll(tx.client, LOGIN_TOPIC, credentials.logins);
  return credentials;
}

export async function announceTokens(tx: Transaction, tokens: number[]): Promise<Credentials> {
  return announce(tx, { tokens, logins: [] });
}
