import type { Transaction } from '../../../db/database.ts';
import { forPeople } from '../../../lib/time.ts';
import type { MailData } from '../../../mail/kinds.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Credentials } from '../../identity/service.ts';
import { endLogins } from '../in-transaction.ts';
import { findUserById } from '../store.ts';
import { lockUser, removeAll } from './store.ts';

/** Leaves a user only the password, and ends their logins. */
export async function removeSecondFactors(tx: Transaction, userId: number): Promise<Credentials> {
  await lockUser(tx, userId);
  await removeAll(tx, userId);
  return endLogins(tx, { userId });
}

/** Tells the user by mail what has changed. If someone else did it, the user finds out. */
export async function mailChange(
  { mailer }: { mailer: Mailer },
  tx: Transaction,
  userId: number,
  { event, factor = '' }: Pick<MailData['second_factor'], 'event'> & { factor?: string },
): Promise<void> {
  const user = await findUserById(tx.sql, userId);
  if (!user) return;
  const data = { event, factor, time: forPeople(tx.now) };
  await mailer.queue(tx, [{ kind: 'second_factor', to: user.email, clientId: user.client_id, data }]);
}
