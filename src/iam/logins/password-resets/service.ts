import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { isToken, type PersonalToken, readPersonalToken } from '../../../lib/personal-token.ts';
import { setPassword } from '../../accounts/users/in-transaction.ts';
import type { Authenticator } from '../../identity/service.ts';
import { endLogins } from '../in-transaction.ts';
import { hashPassword } from '../passwords/service.ts';
import type { ResetPassword } from './schema.ts';
import { findReset, forgetReset, lockUser } from './store.ts';

/** Passwords that users set after they forgot theirs. */
export interface PasswordResets {
  /** Sets the password and ends all logins of the user. @throws InvalidError for a token that isn't valid */
  reset(request: ResetPassword): Promise<void>;
}

export function createPasswordResets(deps: {
  database: Database;
  clock: Clock;
  authenticator: Authenticator;
}): PasswordResets {
  const { database, clock, authenticator } = deps;

  async function requireValid(
    sql: Database['sql'],
    token: PersonalToken | undefined,
  ): Promise<PersonalToken> {
    const reset = token && (await findReset(sql, token.userId, clock.now()));
    if (token && reset && isToken(token, reset.secret_hash)) return token;
    throw new InvalidError({
      token: ['Not valid: it was used, replaced by a later one or has expired. Ask for a new one.'],
    });
  }

  return {
    async reset({ token: text, password }) {
      const token = readPersonalToken('reset', text);
      // First, since a hash costs much.
      await requireValid(database.sql, token);
      const hash = await hashPassword(password);
      const ended = await database.accept({}, async (tx) => {
        if (token) await lockUser(tx, token.userId);
        const { userId } = await requireValid(tx.sql, token);
        await setPassword(tx.sql, userId, { hash, rename: undefined, now: clock.now() });
        await forgetReset(tx, userId);
        return endLogins(tx, { userId });
      });
      authenticator.forget(ended);
    },
  };
}
