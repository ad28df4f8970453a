import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type SecretColumn, shapeOf } from './columns.ts';

/** AES-256-GCM with a random nonce for each text: one key is safe for some billions of them. */
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;
/** What an empty text becomes. */
export const SHORTEST_BYTES = NONCE_BYTES + TAG_BYTES;

/** Returns nonce, tag and ciphertext. The result can't be moved to another place than `place`. */
export function encrypt(key: Buffer, place: string, content: Buffer | string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** @throws if the bytes were encrypted with another key or for another place, or were changed */
export function decrypt(key: Buffer, place: string, bytes: Buffer): Buffer {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}

/** A key of the database itself. */
export interface DataKey {
  id: number;
  bytes: Buffer;
}

/** What tells a row from the others of its table, as in `shapeOf`. */
export type RowKey = readonly (string | number)[];

const MARK = 'sealed:1:';
/** In base64url. A shorter text is plain: somebody's own words that begin in the same way. */
const CONTENT = `[A-Za-z0-9_-]{${Math.ceil((SHORTEST_BYTES * 4) / 3)},}`;
const SEALED = new RegExp(`^${MARK}(\\d+):(${CONTENT})$`);

/** Returns the prefix of values that are encrypted with a data key. */
export const beginningOf = (dataKeyId: number): string => `${MARK}${dataKeyId}:`;

/** Returns the regular expression, for PostgreSQL, of values that are encrypted with a data key. */
export const sealedWith = (dataKeyId: number): string => `^${beginningOf(dataKeyId)}${CONTENT}$`;

/** Returns the value to write into the database. Without a key it stays readable. */
export function sealWith(key: DataKey | undefined, column: SecretColumn, row: RowKey, value: unknown): string {
  const { json } = shapeOf(column);
  const text = json ? JSON.stringify(value) : String(value);
  if (!key) return text;
  const bytes = encrypt(key.bytes, identityOf(column, row), text);
  const sealed = `${beginningOf(key.id)}${bytes.toString('base64url')}`;
  return json ? JSON.stringify(sealed) : sealed;
}

/** Returns the data key that a stored value needs; undefined for a readable value. */
export function dataKeyIdOf(kept: unknown): number | undefined {
  const found = typeof kept === 'string' ? SEALED.exec(kept) : null;
  return found ? Number(found[1]) : undefined;
}

/** @throws if the key is wrong, or the value was changed or comes from another row */
export function openWith(key: DataKey, column: SecretColumn, row: RowKey, kept: string): unknown {
  const [, , encoded = ''] = SEALED.exec(kept) ?? [];
  const bytes = Buffer.from(encoded, 'base64url');
  try {
    const text = decrypt(key.bytes, identityOf(column, row), bytes).toString();
    return shapeOf(column).json ? JSON.parse(text) : text;
  } catch (cause) {
    throw new Error(`The value of ${column} in row ${row.join(' ')} was not encrypted for it with data key ${key.id}`, {
      cause,
    });
  }
}

/** Ids are the same in upper and lower case. */
function identityOf(column: SecretColumn, row: RowKey): string {
  return JSON.stringify([column, ...row.map((part) => String(part).toLowerCase())]);
}
