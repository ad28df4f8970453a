import type { Transaction } from '../../db/database.ts';
import { presentPosition } from '../events/in-transaction.ts';

/** Lets all webhooks get what happens from now on. For webhooks that were not there before, such as those of a snapshot. */
export async function sendFromNowOn(tx: Transaction): Promise<void> {
  const after_position = await presentPosition(tx);
  await tx.sql.updateTable('webhooks').set({ after_position }).execute();
}

/** Deletes the webhooks of an account that is being deleted. */
export async function deleteWebhooksOf(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('webhooks').where('client_id', '=', clientId).execute();
}
