import type { Database, Sql, Transaction } from '../db/database.ts';
import type { SecretColumn } from './columns.ts';
import { unwrap, wrappedKeys } from './data-keys.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import { countSealed, removeSealed } from './sweep.ts';

/** Returns the data keys that the operator's keys can't decrypt, and how many values are encrypted with them. */
export async function lostSecrets(
  db: Sql,
  encryptionKeys: EncryptionKeys,
): Promise<{ dataKeyIds: number[]; counts: Map<SecretColumn, number> }> {
  const keys = encryptionKeys.read();
  const rows = await wrappedKeys(db);
  const dataKeyIds = rows.filter((row) => !unwrap(row, keys)).map(({ id }) => id);
  return { dataKeyIds, counts: await countSealed(db, dataKeyIds) };
}

/** Deletes these data keys, and the values that nobody can decrypt any more. `record` notes that it was done. */
export async function giveUpLost(
  database: Database,
  dataKeyIds: readonly number[],
  record: (tx: Transaction) => Promise<void> = async () => {},
): Promise<void> {
  await database.transaction(async (tx) => {
    await removeSealed(tx.sql, dataKeyIds);
    await tx.sql.deleteFrom('data_keys').where('id', 'in', dataKeyIds).execute();
    await record(tx);
  });
}
