import { planSuspension } from '../../cloud/compute/instances/suspension/in-transaction.ts';
import type { Transaction } from '../../db/database.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import * as accounts from '../accounts/service.ts';
import { refusePlatforms } from '../accounts/users/in-transaction.ts';
import type { Credentials } from '../identity/service.ts';
import { announceClient } from '../logins/in-transaction.ts';
import type * as schema from './schema.ts';
import { getClient } from './service.ts';

/**
 * Pauses an account or opens it again: no login or API token works in a paused account. Its resources stay; workers
 * stop its machines if that is wanted. After the commit, pass the result to the authenticator's `forget`.
 * @throws NotFoundError; ConflictError for the platform's own account, and to open one that is being deleted
 */
export async function changeStatus(
  tx: Transaction,
  clientId: number,
  status: 'active' | 'paused',
): Promise<Credentials> {
  await refusePlatforms(tx.sql, clientId);
  const client = await accounts.lockWholeClient(tx, clientId);
  if (!client || client.deletedAt) throw new NotFoundError('Client', clientId);
  if (status === 'active') await refuseGoing(tx, clientId);
  if (client.status === status) return { tokens: [], logins: [] };
  await tx.sql.updateTable('clients').set({ status }).where('id', '=', clientId).execute();
  await tx.sql
    .insertInto('client_status_changes')
    .values({ client_id: clientId, old_status: client.status, new_status: status, changed_at: tx.now })
    .execute();
  await planSuspension(tx, clientId);
  return announceClient(tx, clientId);
}

async function refuseGoing(tx: Transaction, clientId: number): Promise<void> {
  const task = await accounts.deletingTask(tx.sql, clientId);
  if (task === undefined) return;
  throw new ConflictError(`Client ${clientId} is being deleted by task ${task}; nothing can bring it back`);
}

/**
 * Suspends an account or opens it again.
 * @throws NotFoundError; ConflictError for the caller's own account and as `changeStatus`
 */
export async function setClientStatus(
  on: Platform,
  principal: Principal,
  clientId: number,
  status: 'active' | 'paused',
): Promise<schema.Client> {
  const ended = await on.database.accept(async (tx) => {
    await accounts.lockManaged(tx, principal, clientId);
    noteAccount(clientId);
    if (clientId === principal.clientId) {
      throw new ConflictError(`Client ${clientId} is your own account; you would shut yourself out`);
    }
    return changeStatus(tx, clientId, status);
  });
  on.authenticator.forget(ended);
  return getClient(on, principal, clientId);
}

/** Pauses an account or resumes it, for the operator of the platform. @throws as `changeStatus` */
export async function setStatusOf(
  { database }: Pick<Platform, 'database'>,
  clientId: number,
  status: 'active' | 'paused',
): Promise<void> {
  await database.accept(async (tx) => {
    noteAccount(clientId);
    tx.made(clientId);
    await changeStatus(tx, clientId, status);
  });
}
