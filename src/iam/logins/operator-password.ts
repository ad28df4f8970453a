import type { Database } from '../../db/database.ts';
import { requireEmail } from '../../lib/email.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { endLogins } from '../identity/credentials.ts';
import { hashPassword } from './passwords.ts';
import { PASSWORD_LENGTH } from './schema.ts';
import * as store from './store.ts';

/**
 * Sets a user's password for whoever operates the platform. Without `email` it is the platform administrator's.
 * Ends the user's logins. @throws InvalidError, NotFoundError for an unknown user
 */
export async function setPasswordOf(
  { database }: { database: Database },
  wanted: { email?: string | undefined; rename?: string | undefined; password: string },
): Promise<{ email: string }> {
  const { email, rename, password } = wanted;
  const { min, max } = PASSWORD_LENGTH;
  if (password.length < min || password.length > max) {
    throw new InvalidError({ password: [`Must have ${min} to ${max} characters.`] });
  }
  if (rename !== undefined) requireEmail(rename, 'rename');
  const hash = await hashPassword(password);
  return database.transaction(async (tx) => {
    const user = await store.findUserForOperator(tx.sql, email);
    if (!user) throw new NotFoundError('User', email ?? 'of the platform');
    await store.setPassword(tx.sql, user.id, { hash, email: rename ?? user.email });
    await endLogins(tx, { userId: user.id });
    return { email: rename ?? user.email };
  });
}
