import type { Transaction } from '../../db/database.ts';
import * as addresses from '../networks/addresses/in-transaction.ts';
import { type QuotaOwner, releaseQuota } from '../quotas/in-transaction.ts';
import { deleteRouter } from './store.ts';

export interface RouterInput extends QuotaOwner {
  routerId: string;
}

/** Deletes a router with its interfaces and addresses, if it is still there. */
export async function removeRouter(tx: Transaction, { routerId, ...owner }: RouterInput): Promise<void> {
  await addresses.releaseOfRouter(tx, routerId);
  if (await deleteRouter(tx, routerId)) await releaseQuota(tx, owner, 'router_count');
}
