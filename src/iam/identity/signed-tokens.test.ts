import { randomUUID } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../test/support/databases.ts';
import { secretsOf } from '../../../test/support/secrets.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { UnauthenticatedError } from '../../lib/errors.ts';
import { accountNow, onBehalfOf } from '../../lib/request-context.ts';
import { systemClock } from '../../lib/time.ts';
import type { Secrets } from '../../secrets/secrets.ts';
import { createSignedTokens, ensureSigningKey } from './signed-tokens.ts';

let testDatabase: TestDatabase;
let database: Database;
let secrets: Secrets;
beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
  secrets = await secretsOf(database);
  await ensureSigningKey({ database, clock: systemClock, secrets });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

const inAnHour = () => new Date(Date.now() + 3_600_000);

it('looks for the keys that strangers name once, not each time', async () => {
  let queries = 0;
  const counting = new Proxy(database, {
    get: (target, name: keyof Database) => {
      if (name === 'sql') queries++;
      return target[name];
    },
  });
  const tokens = createSignedTokens({ database: counting, clock: systemClock, secrets });
  const { privateKey } = await generateKeyPair('ES256');
  const forged = () => new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid: randomUUID() }).sign(privateKey);
  for (let n = 0; n < 5; n++) {
    await expect(tokens.read('access', await forged())).rejects.toThrow(UnauthenticatedError);
  }
  expect(queries).toBe(1);
});

it('reads what another process has signed', async () => {
  const [one, other] = [1, 2].map(() => createSignedTokens({ database, clock: systemClock, secrets }));
  const claims = { loginId: 7, id: randomUUID() };
  const text = await one?.sign('access', claims, {}, inAnHour());
  expect(await other?.read('access', text ?? '')).toEqual(claims);
});

it('reads the keys for all accounts, and so not in the turn of the account whose request came first', async () => {
  const turns: (number | undefined)[] = [];
  const watched = new Proxy(database, {
    get: (target, name: keyof Database) => {
      if (name === 'sql') turns.push(accountNow());
      return target[name];
    },
  });
  const tokens = createSignedTokens({ database: watched, clock: systemClock, secrets });
  const claims = { loginId: 7, id: randomUUID() };
  const text = await onBehalfOf(8, () => tokens.sign('access', claims, {}, inAnHour()));
  const others = createSignedTokens({ database: watched, clock: systemClock, secrets });
  expect(await onBehalfOf(8, () => others.read('access', text))).toEqual(claims);
  expect(turns).toEqual([undefined, undefined]);
});
