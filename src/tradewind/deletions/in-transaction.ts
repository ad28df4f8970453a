import { forgetQuotasOf } from '../../cloud/ground/quotas/service.ts';
import { deleteSubscription } from '../../cloud/ground/user-actions/subscriptions/service.ts';
import { deleteBudgetsOf } from '../../cloud/money/budgets/service.ts';
import type { Transaction } from '../../db/database.ts';
import { lockForGood, markClientDeleted } from '../../iam/accounts/service.ts';
import { deactivateAllOf } from '../../iam/features/service.ts';
import { endLogins } from '../../iam/logins/in-transaction.ts';
import { deleteTokens } from '../../iam/tokens/service.ts';
import { deleteProvidersOf } from '../../iam/users/single-sign-on/service.ts';
import { forgetRequestOf } from '../deletion-requests/service.ts';
import { deleteWebhooksOf } from '../webhooks/service.ts';
import { holdsSomething } from './work/store.ts';

/** Deletes what an account has besides its projects, its AI tasks, its users and what lets them in. */
export async function deleteBelongings(tx: Transaction, clientId: number): Promise<void> {
  await deleteWebhooksOf(tx, clientId);
  await deleteSubscription(tx, clientId);
  await deactivateAllOf(tx, clientId);
  await forgetQuotasOf(tx, clientId);
  await deleteBudgetsOf(tx, clientId);
  await forgetRequestOf(tx, clientId);
}

/** Deletes that as well, and all that lets anybody in. The users stay for now. */
export async function shutAccount(tx: Transaction, clientId: number): Promise<void> {
  await deleteBelongings(tx, clientId);
  await deleteTokens(tx, { clientId, onlyOfOutsiders: false });
  await endLogins(tx, { clientId });
  await deleteProvidersOf(tx, clientId);
}

/** Marks the account as deleted. Returns false if a request that had begun before has added something to it. */
export async function closeAccount(tx: Transaction, clientId: number): Promise<boolean> {
  await lockForGood(tx, clientId);
  if (await holdsSomething(tx, clientId)) return false;
  await markClientDeleted(tx, clientId);
  return true;
}
