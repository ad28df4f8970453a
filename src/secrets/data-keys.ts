import { sql } from 'kysely';
import type { Sql } from '../db/database.ts';
import { SettingError } from '../lib/errors.ts';
import type { EncryptionKey } from './encryption-keys.ts';
import { type DataKey, decrypt, encrypt } from './sealed.ts';

/** The topic that announces a new data key. */
export const DATA_KEYS = 'data-keys';

export interface WrappedKey {
  id: number;
  wrapped: Buffer;
  encryption_key_id: string;
  completed_at: Date | null;
}

/** Newest first. */
export function wrappedKeys(db: Sql): Promise<WrappedKey[]> {
  return db
    .selectFrom('data_keys')
    .select(['id', 'wrapped', 'encryption_key_id', 'completed_at'])
    .orderBy('id', 'desc')
    .execute();
}

/** Returns undefined if the key that encrypts it isn't among `keys`. */
export function unwrap(row: WrappedKey, keys: readonly EncryptionKey[]): DataKey | undefined {
  const key = keys.find(({ id }) => id === row.encryption_key_id);
  return key && { id: row.id, bytes: decrypt(key.bytes, identityOf(row.id), row.wrapped) };
}

/** @throws SettingError if one of them needs a key that is missing */
export function unwrapAll(rows: readonly WrappedKey[], keys: readonly EncryptionKey[], place: string): DataKey[] {
  return rows.map((row) => {
    const key = unwrap(row, keys);
    if (key) return key;
    throw new SettingError(wrongKey(row, keys, place));
  });
}

export async function insertDataKey(
  db: Sql,
  { bytes, under, now }: { bytes: Buffer; under: EncryptionKey; now: Date },
): Promise<DataKey> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('data_keys', 'id'))::integer as id`.execute(db);
  const id = rows[0]?.id ?? 0;
  await db
    .insertInto('data_keys')
    .values({ id, ...wrappedWith(under, { id, bytes }), created_at: now, completed_at: null })
    .execute();
  return { id, bytes };
}

/** Encrypts a data key with another of the operator's keys. Values that it has encrypted stay as they are. */
export async function rewrap(db: Sql, key: DataKey, under: EncryptionKey): Promise<void> {
  await db.updateTable('data_keys').set(wrappedWith(under, key)).where('id', '=', key.id).execute();
}

function wrappedWith({ id, bytes }: EncryptionKey, key: DataKey) {
  return { wrapped: encrypt(bytes, identityOf(key.id), key.bytes), encryption_key_id: id };
}

const identityOf = (id: number): string => JSON.stringify(['data_keys', id]);

function wrongKey(row: WrappedKey, keys: readonly EncryptionKey[], place: string): string {
  const here =
    keys.length === 0
      ? `this process has none: there is no ${place}`
      : `this process has ${keys.map(({ id }) => id).join(', ')} (${place})`;
  return `The secrets in this database are encrypted with encryption key ${row.encryption_key_id}, but ${here}. Set TRADEWIND_ENCRYPTION_KEY_FILE to the file with that key, or TRADEWIND_ENCRYPTION_KEY to the key, as for the other processes on this database. If the key is lost for good, "tradewind keys give-up" shows what is lost with it`;
}
