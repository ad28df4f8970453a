import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { newKey, secretsOf } from '../../test/support/secrets.ts';
import { loadConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { systemClock as clock } from '../lib/time.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { rotateKeys } from '../secrets/preparation.ts';
import { encryptionKey } from './checks.ts';

let testDatabase: TestDatabase;
let database: Database;
beforeEach(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
});
afterEach(async () => {
  await database.close();
  await testDatabase.drop();
});

it('says that the former key is needed until a rotation, also where the new one stands before it', async () => {
  const [former, next] = [newKey(), newKey()];
  await secretsOf(database, former);
  const config = (keys: string) => loadConfig({ DATABASE_URL: testDatabase.url, TRADEWIND_ENCRYPTION_KEY: keys });
  expect(await encryptionKey(config(former))).toMatchObject({ state: 'ok' });
  const both = config(`${next},${former}`);
  const [, { id: formerId } = { id: '' }] = encryptionKeysOf(both).read();
  expect(await encryptionKey(both)).toMatchObject({
    state: 'limited',
    detail: expect.stringContaining(`still need ${formerId}`),
  });
  await rotateKeys({ database, clock, encryptionKeys: encryptionKeysOf(both), pauseMs: 0 });
  expect(await encryptionKey(both)).toMatchObject({ state: 'ok' });
  expect(await encryptionKey(config(next))).toMatchObject({ state: 'ok' });
});

it('says which secrets are not encrypted after a rotation', async () => {
  const key = newKey();
  await secretsOf(database, key);
  const config = loadConfig({ DATABASE_URL: testDatabase.url, TRADEWIND_ENCRYPTION_KEY: key });
  expect(await encryptionKey(config)).toMatchObject({ state: 'ok' });
  await database.pool.query(`insert into signing_keys values (gen_random_uuid(), '{"d": 1}', now())`);
  expect(await encryptionKey(config)).toMatchObject({
    state: 'limited',
    detail: expect.stringContaining('signing_keys.jwk: 1.'),
  });
  await rotateKeys({ database, clock, encryptionKeys: encryptionKeysOf(config), pauseMs: 0 });
  expect(await encryptionKey(config)).toMatchObject({ state: 'ok' });
});
