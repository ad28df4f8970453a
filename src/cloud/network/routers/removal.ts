import type { Transaction } from '../../../db/database.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { deleteRouter } from './store.ts';

/** Deletes a router with its interfaces and addresses. Returns whether it was still there: the caller releases its quota. */
export async function removeRouter(tx: Transaction, routerId: string): Promise<boolean> {
  await addresses.releaseOfRouter(tx, routerId);
  return deleteRouter(tx, routerId);
}
