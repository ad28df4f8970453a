import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { announce } from '../db/changes.ts';
import type { Database, Sql, Transaction } from '../db/database.ts';
import { ONLY_ONE, unlessAnother } from '../db/one-process.ts';
import { SettingError } from '../lib/errors.ts';
import type { Clock } from '../lib/time.ts';
import { SECRET_COLUMNS, shapeOf } from './columns.ts';
import { DATA_KEYS, insertDataKey, rewrap, unwrapAll, type WrappedKey, wrappedKeys } from './data-keys.ts';
import { addEncryptionKey, type EncryptionKey, type EncryptionKeys, KEY_FORM } from './encryption-keys.ts';
import { type DataKey, KEY_BYTES } from './sealed.ts';
import type { LoadedSecrets } from './secrets.ts';
import { type Swept, sweep } from './sweep.ts';

/** Time for every process to hear of the new key. */
const PAUSE_MS = 1_000;
const LOOK_MS = 100;
/** Transactions of ours end within half of it. Somebody else's may stay open for days. */
const PATIENCE_MS = 60_000;
/** Two do when every process has the new key; one that hasn't would keep us at it forever. */
const MOST_ROUNDS = 5;
const TABLES = new Set(SECRET_COLUMNS.map((column) => shapeOf(column).table));

export interface Rotated extends Swept {
  /** Whether nothing was left to encrypt in the end. Otherwise a process goes on writing without the newest key. */
  finished: boolean;
  /** Whose open transaction may hold a secret that is encrypted with an earlier key. */
  heldUpBy?: string;
}

interface Deps {
  database: Database;
  clock: Clock;
  encryptionKeys: EncryptionKeys;
  pauseMs?: number;
  patienceMs?: number;
}

/**
 * Makes the first data key, or checks that this process can decrypt the existing ones. On a shared database, processes
 * of an older release may still run, and can't read encrypted values: a database with unencrypted secrets waits for
 * `rotateKeys`. If this process has the database `alone`, it rotates now, and creates a file with an encryption key.
 * @throws SettingError if the encryption key is missing or wrong
 */
export async function prepareSecrets(secrets: LoadedSecrets, deps: Deps & { alone: boolean; log: Logger }) {
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
    const swept = await encryptAll(db, { ...deps, ...(alone && { pauseMs: 0 }) });
    if (swept.changed > 0) log.info({ values: swept.changed }, 'The secrets in the database are encrypted now');
    if (swept.unreadable.size > 0)
      log.warn(
        { values: Object.fromEntries(swept.unreadable) },
        "Some secrets can't be read with any key of the database, and stay as they are",
      );
    if (swept.heldUpBy !== undefined)
      log.warn(`The next start looks again for secrets to encrypt: ${swept.heldUpBy} has an open transaction`);
    // A start that was killed may have encrypted any of them.
    if (alone) await dropFormerValues(db, before.length > 0 ? TABLES : swept.plain);
    await complete(db, deps, swept);
  });
}

/**
 * Makes a new data key, encrypts all data keys with the first of the operator's keys, and every secret with
 * the new data key. Other processes keep running and are informed. Returns undefined if another process is
 * doing this. If `newKeyIn` names a file, that file first gets a new first key: two concurrent calls would
 * overwrite each other's. `begun` is called in the transaction that makes the data key.
 */
export async function rotateKeys(
  deps: Deps & { newKeyIn?: string; begun?: (tx: Transaction) => Promise<void> },
): Promise<Rotated | undefined> {
  const { database, encryptionKeys, newKeyIn, begun } = deps;
  return unlessAnother(database.sql, ONLY_ONE.encrypts, async (db) => {
    if (newKeyIn !== undefined) {
      // Adds no new key if the existing ones are wrong.
      unwrapAll(await wrappedKeys(db), encryptionKeys.read(), encryptionKeys.place);
      addEncryptionKey(newKeyIn);
    }
    const keys = encryptionKeys.read();
    const [first] = keys;
    if (!first) throw new SettingError(keyNeeded(encryptionKeys));
    await database.transaction(async (tx) => {
      const found = await lockKeys(tx);
      for (const [index, key] of unwrapAll(found, keys, encryptionKeys.place).entries()) {
        if (found[index]?.encryption_key_id !== first.id) await rewrap(tx.sql, key, first);
      }
      await addDataKey(tx, deps.clock, first);
      await begun?.(tx);
    });
    const swept = await encryptAll(db, deps);
    await complete(db, deps, swept);
    return swept;
  });
}

async function makeFirst({ database, clock, encryptionKeys, alone, log }: Parameters<typeof prepareSecrets>[1]) {
  if (encryptionKeys.read().length === 0) {
    if (!alone || encryptionKeys.file === undefined) throw new SettingError(keyNeeded(encryptionKeys));
    addEncryptionKey(encryptionKeys.file);
    log.info(
      `The secrets in the database are encrypted with the key in ${encryptionKeys.file}. Keep a copy of it elsewhere: without the key, the secrets are lost`,
    );
  }
  const [first] = encryptionKeys.read();
  if (!first) throw new SettingError(keyNeeded(encryptionKeys));
  await database.transaction(async (tx) => {
    // Another process may have made it first.
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

/** Whether no secret was ever made, so that there is nothing an older release has to read. */
export async function isFresh(db: Sql): Promise<boolean> {
  return (await db.selectFrom('signing_keys').select('id').limit(1).executeTakeFirst()) === undefined;
}

/**
 * Encrypts everything with the newest data key. A second round finds what was being written when that key was
 * announced, once it is committed. The caller has the lock, so that no newer key comes meanwhile.
 */
async function encryptAll(
  db: Sql,
  { database, encryptionKeys, pauseMs = PAUSE_MS, patienceMs = PATIENCE_MS }: Deps,
): Promise<Rotated & { newest: DataKey }> {
  const keys = unwrapAll(await wrappedKeys(db), encryptionKeys.read(), encryptionKeys.place);
  const [newest] = keys as [DataKey];
  const all = new Map(keys.map((key) => [key.id, key]));
  const total = await sweep({ db, database }, newest, all);
  let { changed } = total;
  for (let round = 2; changed > 0 && round <= MOST_ROUNDS; round++) {
    await sleep(pauseMs);
    const heldUpBy = await openTransaction(db, patienceMs);
    if (heldUpBy !== undefined) return { ...total, finished: false, heldUpBy, newest };
    const again = await sweep({ db, database }, newest, all);
    ({ changed } = again);
    total.changed += changed;
    for (const table of again.plain) total.plain.add(table);
  }
  return { ...total, finished: changed === 0, newest };
}

/** Notes that nothing is left to do for this data key. Another try can't read what no key opens either. */
async function complete(db: Sql, { clock }: Deps, { finished, newest }: Rotated & { newest: DataKey }): Promise<void> {
  if (!finished) return;
  await db.updateTable('data_keys').set({ completed_at: clock.now() }).where('id', '=', newest.id).execute();
}

/**
 * Waits until every transaction of ours that is open now has ended: a request may have to wait for its locks.
 * DATABASE_URL may give our connections another name; what has written something counts as ours too. Returns who
 * still has one open when the patience ends.
 */
async function openTransaction(db: Sql, patienceMs: number): Promise<string | undefined> {
  const { rows: now } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(db);
  const open = () =>
    sql<{ who: string }>`
      select format('%s (pid %s)', coalesce(nullif(application_name, ''), 'a connection'), pid) as who
      from pg_stat_activity
      where datname = current_database() and (application_name = 'tradewind' or backend_xid is not null)
        and pid <> pg_backend_pid() and xact_start < ${now[0]?.at}::timestamptz limit 1`.execute(db);
  for (let waited = 0; ; waited += LOOK_MS) {
    const [first] = (await open()).rows;
    if (!first || waited >= patienceMs) return first?.who;
    await sleep(LOOK_MS);
  }
}

/** An update leaves the former value in the table's file until it is overwritten. */
async function dropFormerValues(db: Sql, tables: ReadonlySet<string>): Promise<void> {
  for (const table of tables) await sql`vacuum full ${sql.table(table)}`.execute(db);
}

export function keyNeeded({ place }: EncryptionKeys): string {
  return `There is no encryption key for the secrets in the database (no ${place}). Put ${KEY_FORM} into a file of mode 600, set TRADEWIND_ENCRYPTION_KEY_FILE to that file in every process on this database, and keep a copy of the key`;
}

function warnOfPlain(log: Logger, encryptionKeys: EncryptionKeys): void {
  const name =
    encryptionKeys.read().length === 0
      ? 'set an encryption key in every process (TRADEWIND_ENCRYPTION_KEY_FILE), and '
      : '';
  log.warn(
    `The secrets in this database come from an older release and are not encrypted: once no process of an older release runs on it, ${name}run "tradewind keys rotate"`,
  );
}
