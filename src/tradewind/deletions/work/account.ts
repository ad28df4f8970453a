import { forgetQuotasOf } from '../../../cloud/ground/quotas/in-transaction.ts';
import { deleteSubscription } from '../../../cloud/ground/user-actions/subscriptions/in-transaction.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { lockForGood, markClientDeleted } from '../../../iam/accounts/in-transaction.ts';
import { takeOutSome } from '../../../iam/accounts/users/in-transaction.ts';
import { deactivateAllOf } from '../../../iam/features/in-transaction.ts';
import { endLogins } from '../../../iam/logins/in-transaction.ts';
import { deleteTokensOf } from '../../../iam/tokens/in-transaction.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deleteTasksOf } from '../../../streaming/ai-tasks/in-transaction.ts';
import { forgetRequestOf } from '../../deletion-requests/in-transaction.ts';
import { deleteWebhooksOf } from '../../webhooks/in-transaction.ts';
import { holdsSomething } from './store.ts';

const BATCH = 500;

/**
 * Deletes what an account has besides its projects, in batches. What was used, who did what, and the account's own row stay.
 */
export async function emptyAccount(
  { database, clock }: { database: Database; clock: Clock },
  clientId: number,
  signal: AbortSignal,
): Promise<void> {
  const until = async (some: (tx: Transaction) => Promise<number>) => {
    while (!signal.aborted && (await database.transaction(some)) > 0);
  };
  const now = clock.now();
  await until((tx) => deleteTasksOf(tx, clientId, BATCH));
  await database.transaction(async (tx) => {
    await deleteWebhooksOf(tx, clientId);
    await deleteSubscription(tx, clientId);
    await deactivateAllOf(tx, clientId);
    await forgetQuotasOf(tx, clientId);
    await forgetRequestOf(tx, clientId);
    await deleteTokensOf(tx, clientId, now);
    await endLogins(tx, { clientId });
  });
  await until((tx) => takeOutSome(tx, clientId, { limit: BATCH, now }));
}

/** Marks the account as deleted. Returns false if a request that had begun before has added something to it. */
export async function closeAccount(tx: Transaction, clientId: number, now: Date): Promise<boolean> {
  await lockForGood(tx, clientId);
  if (await holdsSomething(tx, clientId)) return false;
  await markClientDeleted(tx, clientId, now);
  return true;
}
