import type { PoolConfig } from 'pg';
import { runningEmbedded } from '../../postgres/index.ts';
import type { Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { faultOf, smtpOutlet } from '../mail/sending/outlets.ts';
import { unwrapAll, type WrappedKey, wrappedKeys } from '../secrets/data-keys.ts';
import { type EncryptionKeys, encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { isFresh, keyNeeded } from '../secrets/preparation.ts';
import { countOthers } from '../secrets/sweep.ts';
import { letterheadOf } from './from-settings.ts';
import { connectionTo, hasDatabase } from './storage.ts';

/** `missing` stops Tradewind; `limited` leaves something out. Both say how to fix it. */
export interface Finding {
  what: string;
  state: 'ok' | 'limited' | 'missing';
  detail: string;
}

type Made = (what: string, detail: string) => Finding;
export const ok: Made = (what, detail) => ({ what, state: 'ok', detail });
export const limited: Made = (what, detail) => ({ what, state: 'limited', detail });
export const missing: Made = (what, detail) => ({ what, state: 'missing', detail });

/** Returns how to connect to the database; undefined for an embedded one that doesn't run. */
export function runningDatabase({ databaseUrl, dataDir }: Config): PoolConfig | undefined {
  return databaseUrl === undefined ? runningEmbedded(dataDir) : connectionTo(databaseUrl);
}

const ENCRYPTION_KEY = 'Encryption key';
const LOSS =
  'If it is lost, so are the keys of clusters, passwords and user data of machines, headers of subscriptions and all logins: keep a copy apart from the backups of the database (docs/secrets.md)';

/** Reports where the encryption key is, whether it fits the database, and what its loss would mean. */
export async function encryptionKey(config: Config): Promise<Finding> {
  const encryptionKeys = encryptionKeysOf(config);
  const { place } = encryptionKeys;
  try {
    const keys = encryptionKeys.read();
    const { rows, fromBefore, others } = await stateOf(config);
    unwrapAll(rows, keys, place);
    const [first] = keys;
    if (!first) return withoutKey(config, encryptionKeys, fromBefore);
    if (fromBefore)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}, but the secrets in the database are not encrypted yet: run "tradewind keys rotate" once no process of an older release runs on the database`,
      );
    const former = rows.find((row) => row.encryption_key_id !== first.id)?.encryption_key_id;
    if (former !== undefined)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}; the secrets in the database still need ${former}, which is also there: keep it until "tradewind keys rotate" has run`,
      );
    if (rows[0]?.completed_at === null)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}; some secrets are not encrypted with the newest data key yet: "tradewind keys rotate" is still running, or has to be run again once every process has this key`,
      );
    if (others.length > 0)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}; these secrets are not encrypted with the newest data key: ${others.join(', ')}. "tradewind keys rotate" encrypts those that a process without the key wrote, and names those that no key reads`,
      );
    return ok(ENCRYPTION_KEY, `${first.id}, in ${place}. ${LOSS}`);
  } catch (error) {
    return missing(ENCRYPTION_KEY, (error as Error).message);
  }
}

function withoutKey(config: Config, encryptionKeys: EncryptionKeys, fromBefore: boolean): Finding {
  const { place } = encryptionKeys;
  if (config.databaseUrl !== undefined) {
    return fromBefore
      ? limited(
          ENCRYPTION_KEY,
          `none (no ${place}), so the secrets in the database are not encrypted; see docs/secrets.md`,
        )
      : missing(ENCRYPTION_KEY, keyNeeded(encryptionKeys));
  }
  return hasDatabase(config)
    ? limited(ENCRYPTION_KEY, `none (no ${place}); the next start creates one, unless the database already had one`)
    : ok(ENCRYPTION_KEY, `created at the first start, in ${place}. ${LOSS}`);
}

/**
 * Returns no keys and no secrets if the database has no schema yet or can't be reached, which is reported elsewhere.
 */
async function stateOf(config: Config): Promise<{ rows: WrappedKey[]; fromBefore: boolean; others: string[] }> {
  const nothing = { rows: [], fromBefore: false, others: [] };
  const connection = runningDatabase(config);
  if (!connection) return nothing;
  const database = openDatabase(connection, 1);
  try {
    const rows = await wrappedKeys(database.sql);
    const [newest] = rows;
    if (!newest) return { ...nothing, fromBefore: !(await isFresh(database.sql)) };
    const counts = await countOthers(database.sql, newest.id);
    return { ...nothing, rows, others: [...counts].map(([column, count]) => `${column}: ${count}`) };
  } catch {
    return nothing;
  } finally {
    await database.close();
  }
}

const WHAT = 'Mail';

/** Reports where mails go, and whether the server takes them. */
export async function mailFinding(config: Config): Promise<Finding> {
  const { smtpUrl, folder, from, publicUrl } = config.mail;
  try {
    letterheadOf(config);
  } catch (error) {
    return missing(WHAT, (error as Error).message);
  }
  if (smtpUrl === undefined) {
    return limited(WHAT, `put into ${folder} and not sent; set TRADEWIND_SMTP_URL (docs/accounts.md)`);
  }
  // Never the whole URL, which has a password.
  const { protocol, host } = new URL(smtpUrl);
  const where = `${protocol}//${host}, from ${from}`;
  const outlet = smtpOutlet(smtpUrl);
  try {
    await outlet.verify();
  } catch (error) {
    return limited(WHAT, `${where}: ${faultOf(error)}`);
  } finally {
    outlet.close();
  }
  return publicUrl === undefined
    ? limited(WHAT, `${where}, with tokens instead of links; set TRADEWIND_PUBLIC_URL (docs/accounts.md)`)
    : ok(WHAT, where);
}
