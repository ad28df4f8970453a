import type { Database } from '../../db/database.ts';
import { requireEmail } from '../../lib/email.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Clock } from '../../lib/time.ts';
import { followAddress } from '../accounts/service.ts';
import { setPassword } from '../accounts/users/in-transaction.ts';
import { endLogins } from './in-transaction.ts';
import { formerAddress, hashPassword } from './passwords/service.ts';
import { PASSWORD_LENGTH } from './schema.ts';
import { removeSecondFactors } from './second-factors/in-transaction.ts';
import * as store from './store.ts';

type Who = { email?: string | undefined; rename?: string | undefined };

/**
 * To be called before a person types a password. Returns what they should know about the user's address.
 * @throws InvalidError, NotFoundError for an unknown user
 */
export async function requireUserOf({ database }: { database: Database }, { email, rename }: Who) {
  if (rename !== undefined) requireEmail(rename, 'rename');
  return formerAddress(await findUser(database.sql, email));
}

/**
 * Sets a user's password for the operator; without `email`, the platform administrator's. Ends the user's logins. Second factors
 * stay unless they are to be removed.
 * @throws InvalidError, NotFoundError for an unknown user
 */
export async function setPasswordOf(
  { database, clock }: { database: Database; clock: Clock },
  wanted: Who & { password: string; removeSecondFactors?: boolean },
): Promise<{ email: string; second_factor: boolean }> {
  const { email, rename, password } = wanted;
  const { min, max } = PASSWORD_LENGTH;
  if (password.length < min || password.length > max) {
    throw new InvalidError({ password: [`Must have ${min} to ${max} characters.`] });
  }
  if (rename !== undefined) requireEmail(rename, 'rename');
  const hash = await hashPassword(password);
  return database.accept(async (tx) => {
    const user = await findUser(tx.sql, email);
    noteAccount(user.clientId);
    tx.made(user.id);
    if (rename !== undefined) await followAddress(tx.sql, user.id, rename);
    await setPassword(tx.sql, user.id, { hash, rename, now: clock.now() });
    await (wanted.removeSecondFactors ? removeSecondFactors(tx, user.id) : endLogins(tx, { userId: user.id }));
    const { has_second_factor = false } = (await store.findUserById(tx.sql, user.id)) ?? {};
    return { email: rename ?? user.email, second_factor: has_second_factor };
  });
}

async function findUser(sql: Parameters<typeof store.findUserForOperator>[0], email: string | undefined) {
  const user = await store.findUserForOperator(sql, email);
  if (!user) throw new NotFoundError('User', email ?? 'of the platform');
  return user;
}
