import type { ChangeFeed } from '../db/changes.ts';
import type { Sql } from '../db/database.ts';
import { onOwnBehalf } from '../lib/request-context.ts';
import type { SecretColumn } from './columns.ts';
import { DATA_KEYS, unwrap, wrappedKeys } from './data-keys.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import { type DataKey, dataKeyIdOf, openWith, type RowKey, sealWith } from './sealed.ts';

/** Protects secrets from people who can read the database's files. Stores write secrets only through this. */
export interface Secrets {
  /** Returns what to write into the column of that row; for a JSON column, the JSON text. */
  seal(column: SecretColumn, row: RowKey, value: unknown): string;
  /** Returns the original value of the column; also works for values from before encryption. */
  open<Value = string>(column: SecretColumn, row: RowKey, kept: unknown): Promise<Value>;
}

/** For the start and stop of a process. */
export interface LoadedSecrets extends Secrets {
  /** Reads the data keys. Nothing can be sealed before. */
  load(): Promise<void>;
  /** Follows announcements of new data keys from now on, and reads those that came since the last read. */
  follow(changes: ChangeFeed, failed: (error: unknown) => void): void;
}

/** Data keys are read once, and again when a value needs a newer one. */
export function createSecrets(deps: { sql: Sql; encryptionKeys: EncryptionKeys }): LoadedSecrets {
  const known = new Map<number, DataKey>();
  /** The newest data key; null if the database has none. */
  let current: DataKey | null | undefined;
  let loading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const rows = await wrappedKeys(deps.sql);
    const unknown = rows.filter(({ id }) => !known.has(id));
    const keys = unknown.length === 0 ? [] : deps.encryptionKeys.read();
    for (const row of unknown) {
      const key = unwrap(row, keys);
      if (key) known.set(key.id, key);
    }
    const [newest] = rows;
    if (newest && !known.has(newest.id)) {
      throw new Error(
        `Data key ${newest.id} is encrypted with encryption key ${newest.encryption_key_id}, which is not in ${deps.encryptionKeys.place}`,
      );
    }
    current = newest ? (known.get(newest.id) ?? null) : null;
  }

  /** A read that began before this call doesn't count: the key may be newer. Requests of any account wait for it. */
  async function load(): Promise<void> {
    await loading?.catch(() => {});
    loading ??= onOwnBehalf(read).finally(() => {
      loading = undefined;
    });
    await loading;
  }

  return {
    load,
    follow(changes, failed) {
      const again = () => void load().catch(failed);
      changes.on(DATA_KEYS, again, again);
      again();
    },
    seal(column, row, value) {
      if (current === undefined) throw new Error('The data keys have not been read');
      return sealWith(current ?? undefined, column, row, value);
    },
    async open<Value>(column: SecretColumn, row: RowKey, kept: unknown) {
      const id = dataKeyIdOf(kept);
      if (id === undefined) return kept as Value;
      if (!known.has(id)) await load();
      const key = known.get(id);
      if (!key) throw new Error(`There is no data key ${id}, with which ${column} is encrypted`);
      return openWith(key, column, row, kept as string) as Value;
    },
  };
}
