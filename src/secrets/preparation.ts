import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { announce } from '../db/changes.ts';
import type { Database, Transaction } from '../db/database.ts';
import { ONLY_ONE, unlessAnother } from '../db/one-process.ts';
import type { Tables } from '../db/tables.ts';
import type { Clock } from '../lib/clock.ts';
import { SettingError } from '../lib/operator-error.ts';
import { KEY_BYTES } from './cipher.ts';
import { DATA_KEYS, insertDataKey, rewrap, unwrapAll, type WrappedKey, wrappedKeys } from './data-keys.ts';
import { addEncryptionKey, type EncryptionKey, type EncryptionKeys, KEY_FORM } from './encryption-keys.ts';
import type { DataKey } from './sealed.ts';
import type { LoadedSecrets } from './secrets.ts';
import { type Swept, sweep } from './sweep.ts';

/** Until every process has heard of the new key. */
const PAUSE_MS = 1_000;
const LOOK_MS = 100;

interface Deps {
  database: Database;
  clock: Clock;
  encryptionKeys: EncryptionKeys;
}

/**
 * Makes the first data key, or sees that this process can read with those that are there. Processes of an older release
 * may still run on a database that they share, and they can't read what is encrypted: one with secrets from before waits
 * for `rotateKeys`. With the database `alone`, that is done here, and a file with an encryption key is made.
 * @throws SettingError where the encryption key is missing, or is another one
 */
export async function prepareSecrets(
  secrets: LoadedSecrets,
  deps: Deps & { alone: boolean; log: Logger },
): Promise<void> {
  const { database, encryptionKeys, alone, log } = deps;
  const before = await wrappedKeys(database.sql);
  if (before.length === 0 && (alone || (await isFresh(database.sql)))) await makeFirst(deps);
  const rows = await wrappedKeys(database.sql);
  unwrapAll(rows, rows.length === 0 ? [] : encryptionKeys.read(), encryptionKeys.place);
  if (rows.length === 0) warnOfPlain(log, encryptionKeys);
  await secrets.load();
  const unfinished = rows[0]?.completed_at === null && (alone || before.length === 0);
  if (!unfinished) return;
  await unlessAnother(database.sql, ONLY_ONE.encrypts, async (db) => {
    const swept = await encryptAll(db, { ...deps, ...(alone && { pauseMs: 0 }) }, rows);
    if (swept.changed > 0)
      log.info({ values: swept.changed }, 'The secrets in the database are encrypted now');
    if (alone) await dropFormerValues(db, swept.plain);
  });
}

/**
 * Makes a new data key, encrypts all of them with the first of the operator's keys, and every secret with the new one. Other
 * processes hear of it and go on meanwhile. Undefined where another is at it. With `newKeyIn` a file, that gets a new first key
 * before: two of these at once would write over each other's.
 */
export async function rotateKeys(
  deps: Deps & { newKeyIn?: string; pauseMs?: number },
): Promise<Swept | undefined> {
  const { database, encryptionKeys, newKeyIn } = deps;
  return unlessAnother(database.sql, ONLY_ONE.encrypts, async (db) => {
    if (newKeyIn !== undefined) {
      // No new key where those that are there are the wrong ones.
      unwrapAll(await wrappedKeys(db), encryptionKeys.read(), encryptionKeys.place);
      addEncryptionKey(newKeyIn);
    }
    const keys = encryptionKeys.read();
    const [first] = keys;
    if (!first) throw new SettingError(keyNeeded(encryptionKeys));
    const rows = await database.transaction(async (tx) => {
      const found = await lockKeys(tx);
      for (const [index, key] of unwrapAll(found, keys, encryptionKeys.place).entries()) {
        if (found[index]?.encryption_key_id !== first.id) await rewrap(tx.sql, key, first);
      }
      await addDataKey(tx, deps.clock, first);
      return wrappedKeys(tx.sql);
    });
    return encryptAll(db, deps, rows);
  });
}

async function makeFirst({
  database,
  clock,
  encryptionKeys,
  alone,
  log,
}: Parameters<typeof prepareSecrets>[1]) {
  if (encryptionKeys.read().length === 0) {
    if (!alone || encryptionKeys.file === undefined) throw new SettingError(keyNeeded(encryptionKeys));
    addEncryptionKey(encryptionKeys.file);
    log.info(
      `The secrets in the database are encrypted with the key in ${encryptionKeys.file}. Keep a copy of it elsewhere: without it they are lost`,
    );
  }
  const [first] = encryptionKeys.read();
  if (!first) throw new SettingError(keyNeeded(encryptionKeys));
  await database.transaction(async (tx) => {
    // Whoever came first has made it.
    if ((await lockKeys(tx)).length === 0) await addDataKey(tx, clock, first);
  });
}

async function lockKeys({ client, sql: db }: Transaction): Promise<WrappedKey[]> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('tradewind data keys', 0))`);
  return wrappedKeys(db);
}

async function addDataKey({ client, sql: db }: Transaction, clock: Clock, under: EncryptionKey) {
  await insertDataKey(db, { bytes: randomBytes(KEY_BYTES), under, now: clock.now() });
  await announce(client, DATA_KEYS, '');
}

/** No secret was ever made: nothing that an older release could read is there. */
export async function isFresh(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom('signing_keys').select('id').limit(1).executeTakeFirst()) === undefined;
}

/** What was being written when the new key was announced is met by another round, once it is there. */
async function encryptAll(
  db: Kysely<Tables>,
  { clock, encryptionKeys, pauseMs = PAUSE_MS }: Deps & { pauseMs?: number },
  rows: readonly WrappedKey[],
): Promise<Swept> {
  const keys = unwrapAll(rows, encryptionKeys.read(), encryptionKeys.place);
  const [newest] = keys as [DataKey];
  const all = new Map(keys.map((key) => [key.id, key]));
  const total = await sweep(db, newest, all);
  for (let { changed } = total; changed > 0; ) {
    await sleep(pauseMs);
    await othersCommitted(db);
    const again = await sweep(db, newest, all);
    ({ changed } = again);
    total.changed += changed;
  }
  if (total.unreadable.size === 0) {
    await db
      .updateTable('data_keys')
      .set({ completed_at: clock.now() })
      .where('id', '=', newest.id)
      .execute();
  }
  return total;
}

/** Returns when every transaction of ours that is open now has ended: a request may have to wait for its locks. */
async function othersCommitted(db: Kysely<Tables>): Promise<void> {
  const { rows: now } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(db);
  const open = () =>
    sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'tradewind' and pid <> pg_backend_pid()
        and xact_start < ${now[0]?.at}::timestamptz limit 1`.execute(db);
  while ((await open()).rows.length > 0) await sleep(LOOK_MS);
}

/** What an update leaves in a table's file is there until something else is written over it. */
async function dropFormerValues(db: Kysely<Tables>, tables: ReadonlySet<string>): Promise<void> {
  for (const table of tables) await sql`vacuum full ${sql.table(table)}`.execute(db);
}

export function keyNeeded({ place }: EncryptionKeys): string {
  return `Secrets are kept encrypted, and there is no encryption key (no ${place}). Make one, give every process on this database the same, and keep a copy: put ${KEY_FORM} into a file of mode 600, and its name into TRADEWIND_ENCRYPTION_KEY_FILE`;
}

function warnOfPlain(log: Logger, encryptionKeys: EncryptionKeys): void {
  const name =
    encryptionKeys.read().length === 0
      ? 'name an encryption key in every process (TRADEWIND_ENCRYPTION_KEY_FILE), and '
      : '';
  log.warn(
    `The secrets in this database are from before and not encrypted: once no process of an older release runs on it, ${name}run "tradewind keys rotate"`,
  );
}
