import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { Database } from '../../src/db/database.ts';
import { systemClock } from '../../src/lib/time.ts';
import { type EncryptionKeys, encryptionKeysOf } from '../../src/secrets/encryption-keys.ts';
import { prepareSecrets } from '../../src/secrets/preparation.ts';
import { createSecrets, type LoadedSecrets } from '../../src/secrets/secrets.ts';

export const newKey = (): string => randomBytes(32).toString('base64');

/** For databases that are deleted after the test. */
export const ENCRYPTION_KEY = Buffer.alloc(32, 'test').toString('base64');

export function keysFrom(text: string): EncryptionKeys {
  return encryptionKeysOf({ encryptionKey: text, encryptionKeyFile: '', encryptionKeyFileNamed: false });
}

/** Opens the secrets of a database, as a start does. */
export async function secretsOf(database: Database, text = ENCRYPTION_KEY): Promise<LoadedSecrets> {
  const encryptionKeys = keysFrom(text);
  const secrets = createSecrets({ sql: database.sql, encryptionKeys });
  const log = pino({ level: 'silent' });
  await prepareSecrets(secrets, { database, clock: systemClock, encryptionKeys, alone: false, log });
  return secrets;
}
