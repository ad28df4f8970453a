import { decrypt, encrypt, SHORTEST_BYTES } from './cipher.ts';
import { SECRET_COLUMNS, type SecretColumn } from './columns.ts';

/** A key of the database itself. */
export interface DataKey {
  id: number;
  bytes: Buffer;
}

/** What tells a row from the others of its table, as in `SECRET_COLUMNS`. */
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
export function sealWith(
  key: DataKey | undefined,
  column: SecretColumn,
  row: RowKey,
  value: unknown,
): string {
  const { json } = SECRET_COLUMNS[column];
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
    return SECRET_COLUMNS[column].json ? JSON.parse(text) : text;
  } catch (cause) {
    throw new Error(
      `The value of ${column} in row ${row.join(' ')} was not encrypted for it with data key ${key.id}`,
      {
        cause,
      },
    );
  }
}

/** Ids are the same in upper and lower case. */
function identityOf(column: SecretColumn, row: RowKey): string {
  return JSON.stringify([column, ...row.map((part) => String(part).toLowerCase())]);
}
