import type { Kysely } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { SecretColumn } from './columns.ts';
import { unwrap, wrappedKeys } from './data-keys.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import { countSealed, removeSealed } from './sweep.ts';

/**
 * Returns the data keys that the operator's keys can't decrypt, and how many values are encrypted with them.
 */
export async function lostSecrets(
  db: Kysely<Tables>,
  encryptionKeys: EncryptionKeys,
): Promise<{ dataKeyIds: number[]; counts: Map<SecretColumn, number> }> {
  const keys = encryptionKeys.read();
  const rows = await wrappedKeys(db);
  const dataKeyIds = rows.filter((row) => !unwrap(row, keys)).map(({ id }) => id);
  return { dataKeyIds, counts: await countSealed(db, dataKeyIds) };
}

/** Deletes these data keys, and the values that nobody can decrypt any more. */
export async function giveUpLost(database: Database, dataKeyIds: readonly number[]): Promise<void> {
  await database.transaction(async ({ sql: db }) => {
    await removeSealed(db, dataKeyIds);
    await db.deleteFrom('data_keys').where('id', 'in', dataKeyIds).execute();
  });
}
