import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { UnauthenticatedError } from '../../lib/errors.ts';
import {
  type Authenticator,
  announce,
  type SignedTokenClaims,
  type SignedTokens,
} from '../identity/service.ts';
import { endLogins } from './in-transaction.ts';
import { type OpenLogin, pairOf, refreshExpiry } from './pairs.ts';
import type { TokenPair } from './schema.ts';
import * as store from './store.ts';

const LOG_IN_AGAIN =
  'This login has ended, which also happens when a refresh token is used twice; log in again with POST /iam/auth/jwt/login.';

/** A refresh token was used twice: two clients have it, and one of them may be a thief (RFC 9700, 4.14.2). */
class UsedTwiceError extends UnauthenticatedError {
  readonly family: string;

  constructor(family: string) {
    super('Token is invalid or expired', true, LOG_IN_AGAIN);
    this.family = family;
  }
}

/** Returns the next pair for a refresh token, which becomes invalid. @throws UnauthenticatedError */
export async function refreshPair(
  deps: { database: Database; clock: Clock; signedTokens: SignedTokens; authenticator: Authenticator },
  token: string,
): Promise<TokenPair> {
  const { database, clock, signedTokens, authenticator } = deps;
  const given = await signedTokens.read('refresh', token);
  try {
    const login = await database.transaction((tx) => renewed(tx, given, clock.now()));
    authenticator.forget({ tokens: [], logins: [login.id] });
    return await pairOf(deps, login);
  } catch (error) {
    if (error instanceof UsedTwiceError) {
      // In a transaction of its own, since the refusal rolled the other one back.
      authenticator.forget(await database.transaction((tx) => endLogins(tx, { family: error.family })));
    }
    throw error;
  }
}

async function renewed(
  tx: Transaction,
  given: SignedTokenClaims,
  now: Date,
): Promise<Omit<OpenLogin, 'ended'>> {
  const login = await store.lockLogin(tx.sql, given.loginId);
  if (!login || login.expires_at <= now) throw ended();
  // Somebody else's, who has the number since a reset: it must not end for that.
  if (given.loginKey !== undefined && given.loginKey !== login.key) throw ended();
  if (login.refresh_id !== given.id) throw new UsedTwiceError(login.family);
  const of = (await store.membershipsOf(tx.sql, login.user_id)).find(
    ({ client_id }) => client_id === login.client_id,
  );
  if (!of) throw ended();
  const refreshId = randomUUID();
  const expiresAt = refreshExpiry(now, login.ends_at);
  const renewal = await store.renewLogin(tx.sql, login.id, { refresh_id: refreshId, expires_at: expiresAt });
  // Every process that remembers the login remembers its former expiry.
  await announce(tx, { tokens: [], logins: [login.id] });
  return { ...renewal, refreshId, expiresAt, roleId: login.role_id, of };
}

function ended(): UnauthenticatedError {
  return new UnauthenticatedError('Token is invalid or expired', true, LOG_IN_AGAIN);
}
