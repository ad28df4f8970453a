import type { Transaction } from '../../db/database.ts';
import { deleteRequest } from './store.ts';

/** Forgets that an account asked to be deleted, if it did. */
export async function forgetRequestOf(tx: Transaction, clientId: number): Promise<void> {
  await deleteRequest(tx, clientId);
}
