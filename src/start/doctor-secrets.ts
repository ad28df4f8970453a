import type { Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { unwrapAll, type WrappedKey, wrappedKeys } from '../secrets/data-keys.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { runningDatabase } from './doctor-backends.ts';
import { type Finding, limited, missing, ok } from './finding.ts';
import { hasDatabase } from './storage.ts';

const WHAT = 'Encryption key';
const LOSS =
  'Who loses it loses the keys of clusters, passwords and user data of machines, headers of subscriptions and all logins: keep a copy apart from the backups of the database (docs/secrets.md)';

/** Where the key is that secrets are encrypted with, whether it fits the database, and what losing it means. */
export async function encryptionKey(config: Config): Promise<Finding> {
  const encryptionKeys = encryptionKeysOf(config);
  const { place } = encryptionKeys;
  try {
    const keys = encryptionKeys.read();
    const rows = await dataKeysOf(config);
    if (rows) unwrapAll(rows, keys, place);
    const [first] = keys;
    if (!first) return withoutKey(config, place);
    if (rows?.length === 0)
      return limited(
        WHAT,
        `${first.id}, in ${place}, and the secrets in the database are not encrypted yet: "tradewind keys rotate" does it, once no process of an older release runs on it`,
      );
    if (rows?.[0]?.completed_at === null)
      return limited(
        WHAT,
        `${first.id}, in ${place}; some secrets are not encrypted with the newest data key yet: "tradewind keys rotate" is at it, or has to be run again`,
      );
    return ok(WHAT, `${first.id}, in ${place}. ${LOSS}`);
  } catch (error) {
    return missing(WHAT, (error as Error).message);
  }
}

function withoutKey(config: Config, place: string): Finding {
  if (config.databaseUrl !== undefined) {
    return limited(
      WHAT,
      `none (no ${place}); a new database needs one, and the secrets of one from before are not encrypted without it: docs/secrets.md`,
    );
  }
  return hasDatabase(config)
    ? limited(WHAT, `none (no ${place}); the next start makes one, unless the database had one before`)
    : ok(WHAT, `made at the first start, in ${place}. ${LOSS}`);
}

/** Undefined where the database can't be asked, which is told apart, or has no schema yet. */
async function dataKeysOf(config: Config): Promise<WrappedKey[] | undefined> {
  const connection = runningDatabase(config);
  if (!connection) return undefined;
  const database = openDatabase(connection, 1);
  try {
    return await wrappedKeys(database.sql);
  } catch {
    return undefined;
  } finally {
    await database.close();
  }
}
