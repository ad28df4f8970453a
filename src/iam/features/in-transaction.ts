import type { Transaction } from '../../db/database.ts';

/** Deactivates all features of an account that is being deleted. */
export async function deactivateAllOf(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('feature_activations').where('client_id', '=', clientId).execute();
}
