import { hash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../../db/database.ts';
import { InvalidError } from '../../../lib/errors.ts';
import type { Platform } from '../../../platform.ts';
import { freshOrigin, openLogin, openVouched, pairOf, type Vouched } from '../pairs.ts';
import { type AuthType, attemptOf, MOST_ATTEMPTS, type Sender } from '../passwords/service.ts';
import type { TokenPair } from '../schema.ts';
import { challengeUser } from '../second-factors/service.ts';
import { enterAccount } from '../service.ts';
import { findUserById, findUserForOperator, insertAttempt, membershipsOf } from '../store.ts';

/*
 * Codes that sign the platform administrator in to the console, once: the operator gets one in an address, behind the #, where neither
 * logs nor proxies see it.
 */

/** By the database, also if a test has set the clock: the command that makes a code knows nothing of that. */
const NOW = sql<Date>`now()`;
const BYTES = 16;

const hashOf = (code: string): Buffer => hash('sha256', code, 'buffer');

/** Makes a code for the platform administrator. Undefined if there is none. */
export async function makeConsoleCode({ database }: { database: Database }): Promise<string | undefined> {
  return database.accept(async (tx) => {
    await tx.sql.deleteFrom('console_codes').where('expires_at', '<=', NOW).execute();
    const user = await findUserForOperator(tx.sql, undefined);
    if (!user) return undefined;
    const code = randomBytes(BYTES).toString('base64url');
    await tx.sql
      .insertInto('console_codes')
      .values({ hash: hashOf(code), user_id: user.id, expires_at: sql`now() + interval '10 minutes'` })
      .execute();
    return code;
  });
}

/** Makes a code for somebody for whom an identity provider has vouched, good for this browser only. */
export async function makeSignInCode(
  tx: Transaction,
  { userId, clientId, providerId, browser }: Vouched & { browser: string },
): Promise<string> {
  await tx.sql.deleteFrom('sign_in_codes').where('expires_at', '<=', NOW).execute();
  const code = randomBytes(BYTES).toString('base64url');
  await tx.sql
    .insertInto('sign_in_codes')
    .values({
      hash: hashOf(code),
      user_id: userId,
      client_id: clientId,
      provider_id: providerId,
      browser_hash: hashOf(browser),
      expires_at: sql`now() + interval '2 minutes'`,
    })
    .execute();
  return code;
}

/** Makes the codes of those for whom the provider has vouched worthless. */
export async function forgetSignInCodes(tx: Transaction, providerId: string): Promise<void> {
  await tx.sql.deleteFrom('sign_in_codes').where('provider_id', '=', providerId).execute();
}

/** Logs in somebody for whom an identity provider has vouched. @throws ForbiddenError */
export async function logInVouched(on: Platform, vouched: Vouched): Promise<TokenPair> {
  const login = await on.database.transaction((tx) => openVouched(tx, vouched));
  on.authenticator.forget(login.ended);
  return pairOf(on, login);
}

/** The cookie by which only the browser that began to sign in can finish. With the prefix, no other name of the domain can set it. */
export function browserCookie(on: Platform): { name: string; secure: boolean } {
  const secure = on.letterhead().publicUrl?.startsWith('https:') ?? false;
  return { name: secure ? '__Host-tw_sign_in' : 'tw_sign_in', secure };
}

async function vouchedBy(tx: Transaction, code: string, browser: string | undefined): Promise<Vouched | undefined> {
  if (browser === undefined) return undefined;
  const row = await tx.sql
    .deleteFrom('sign_in_codes')
    .where('hash', '=', hashOf(code))
    .where('browser_hash', '=', hashOf(browser))
    .where('expires_at', '>', NOW)
    .returning(['user_id', 'client_id', 'provider_id'])
    .executeTakeFirst();
  return row && { userId: row.user_id, clientId: row.client_id, providerId: row.provider_id };
}

/**
 * Logs in with a code, which is worthless from then on. `browser` is the cookie of one that began to sign in with a company.
 * @throws InvalidError, SecondFactorNeededError if the account requires a second factor of a user who has none
 */
export async function exchangeCode(on: Platform, code: string, from: Sender, browser?: string): Promise<TokenPair> {
  const { login, lacking } = await on.database.transaction(async (tx) => {
    const vouched = await vouchedBy(tx, code, browser);
    if (vouched) return { login: await openVouched(tx, vouched) };
    const row = await tx.sql
      .deleteFrom('console_codes')
      .where('hash', '=', hashOf(code))
      .where('expires_at', '>', NOW)
      .returning('user_id')
      .executeTakeFirst();
    const [membership] = row ? await membershipsOf(tx.sql, row.user_id) : [];
    if (!membership)
      throw new InvalidError({
        code: ['This address was used or is older than ten minutes; "npx tradewind console" prints another.'],
      });
    // The first refresh would end a login without one.
    const lacking = membership.lacks_factor ? await findUserById(tx.sql, membership.user_id) : undefined;
    if (lacking) return { lacking };
    await recordEntry(tx, membership.user_id, from);
    return { login: await openLogin(tx, membership, freshOrigin(membership.user_id)) };
  });
  if (!login) return challengeUser(on, lacking);
  on.authenticator.forget(login.ended);
  return pairOf(on, login);
}

/** Logs in with an API token, for no more than it may do. @throws UnauthenticatedError */
export async function exchangeToken(on: Platform, token: string, from: Sender): Promise<TokenPair> {
  const principal = await on.authenticator.authenticate({ authorization: `apikey ${token}` });
  const pair = await enterAccount(on, principal, principal.clientId);
  await on.database.transaction((tx) => recordEntry(tx, principal.userId, from));
  return pair;
}

/** Lists it among the user's attempts to log in, by default as if the password had been given. */
export async function recordEntry(
  tx: Transaction,
  userId: number,
  from: Sender,
  kind: AuthType = 'password',
  successful = true,
): Promise<void> {
  const user = await tx.sql.selectFrom('users').select(['id', 'email']).where('id', '=', userId).executeTakeFirst();
  if (user) await insertAttempt(tx.sql, attemptOf(user, user.email, from, successful, tx.now, kind), MOST_ATTEMPTS);
}
