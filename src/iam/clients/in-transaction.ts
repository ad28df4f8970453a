import type { Transaction } from '../../db/database.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { deletingTask, lockWholeClient } from '../accounts/in-transaction.ts';
import { refusePlatforms } from '../accounts/users/in-transaction.ts';
import type { Credentials } from '../identity/in-transaction.ts';
import { announceClient } from '../logins/in-transaction.ts';

/**
 * Pauses an account or opens it again: no login or API token works in a paused account. Its resources stay and keep
 * running. After the commit, pass the result to the authenticator's `forget`.
 * @throws NotFoundError; ConflictError for the platform's own account, and to open one that is being deleted
 */
export async function changeStatus(
  tx: Transaction,
  clientId: number,
  status: 'active' | 'paused',
  now: Date,
): Promise<Credentials> {
  await refusePlatforms(tx.sql, clientId);
  const client = await lockWholeClient(tx, clientId);
  if (!client || client.deletedAt) throw new NotFoundError('Client', clientId);
  if (status === 'active') await refuseGoing(tx, clientId);
  if (client.status === status) return { tokens: [], logins: [] };
  await tx.sql.updateTable('clients').set({ status }).where('id', '=', clientId).execute();
  await tx.sql
    .insertInto('client_status_changes')
    .values({ client_id: clientId, old_status: client.status, new_status: status, changed_at: now })
    .execute();
  return announceClient(tx, clientId);
}

async function refuseGoing(tx: Transaction, clientId: number): Promise<void> {
  const task = await deletingTask(tx.sql, clientId);
  if (task === undefined) return;
  throw new ConflictError(`Client ${clientId} is being deleted by task ${task}; nothing can bring it back`);
}
