import { hash, randomBytes } from 'node:crypto';
import type { Database } from '../../../db/database.ts';
import { InvalidError } from '../../../lib/errors.ts';
import type { Clock } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { freshOrigin, openLogin, pairOf } from '../pairs.ts';
import type { TokenPair } from '../schema.ts';
import { findUserForOperator, membershipsOf } from '../store.ts';

/*
 * Codes that sign the platform administrator in to the console, once: the operator gets one in an address, behind the #, where neither
 * logs nor proxies see it.
 */

const VALID_MS = 10 * 60_000;
const BYTES = 16;

const hashOf = (code: string): Buffer => hash('sha256', code, 'buffer');

/** Makes a code for the platform administrator. Undefined if there is none. */
export async function makeConsoleCode({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): Promise<string | undefined> {
  return database.transaction(async (tx) => {
    const now = clock.now();
    await tx.sql.deleteFrom('console_codes').where('expires_at', '<=', now).execute();
    const user = await findUserForOperator(tx.sql, undefined);
    if (!user) return undefined;
    const code = randomBytes(BYTES).toString('base64url');
    await tx.sql
      .insertInto('console_codes')
      .values({ hash: hashOf(code), user_id: user.id, expires_at: new Date(now.getTime() + VALID_MS) })
      .execute();
    return code;
  });
}

/** Logs in with a code, which is worthless from then on. @throws InvalidError */
export async function exchangeCode(on: Platform, code: string): Promise<TokenPair> {
  const login = await on.database.transaction(async (tx) => {
    const row = await tx.sql
      .deleteFrom('console_codes')
      .where('hash', '=', hashOf(code))
      .where('expires_at', '>', on.clock.now())
      .returning('user_id')
      .executeTakeFirst();
    const [membership] = row ? await membershipsOf(tx.sql, row.user_id) : [];
    if (!membership)
      throw new InvalidError({
        code: ['This address was used or is older than ten minutes; "npx tradewind console" prints another.'],
      });
    return openLogin(tx, membership, freshOrigin(membership.user_id));
  });
  on.authenticator.forget(login.ended);
  return pairOf(on, login);
}
