import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { keysFrom, newKey, secretsOf } from '../../test/support/secrets.ts';
import { listenForChanges } from '../db/changes.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { systemClock as clock } from '../lib/time.ts';
import { encryptionKeysOf } from './encryption-keys.ts';
import { giveUpLost, lostSecrets } from './loss.ts';
import { prepareSecrets, rotateKeys } from './preparation.ts';
import { createSecrets } from './secrets.ts';

const PLACE = 'signing_keys.jwk';
const JWK = { kty: 'EC', d: 'the private number' };
const key = newKey();

let testDatabase: TestDatabase;
let database: Database;
beforeEach(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 4);
});
afterEach(async () => {
  await database.close();
  await testDatabase.drop();
});

async function insert(jwk: string, id = randomUUID()): Promise<string> {
  await database.sql.insertInto('signing_keys').values({ id, jwk, created_at: new Date() }).execute();
  return id;
}
const kept = async (id: string) =>
  (await database.sql.selectFrom('signing_keys').select('jwk').where('id', '=', id).executeTakeFirstOrThrow()).jwk;
const rotate = (text = key) => rotateKeys({ database, clock, encryptionKeys: keysFrom(text), pauseMs: 0 });
const dataKeys = () => database.sql.selectFrom('data_keys').selectAll().orderBy('id').execute();

/** Starts a process that has the database for itself. */
async function startAlone(text = key) {
  const encryptionKeys = keysFrom(text);
  const secrets = createSecrets({ sql: database.sql, encryptionKeys });
  await prepareSecrets(secrets, {
    database,
    clock,
    encryptionKeys,
    alone: true,
    log: pino({ level: 'silent' }),
  });
  return secrets;
}

describe('a database without secrets', () => {
  it('gets one data key, also when many processes start at once', async () => {
    const [one, ...others] = await Promise.all([1, 2, 3, 4].map(() => secretsOf(database, key)));
    expect(await dataKeys()).toHaveLength(1);
    const id = await insert(one?.seal(PLACE, ['x'], JWK) ?? '');
    for (const other of others) expect(await other.open(PLACE, ['x'], await kept(id))).toEqual(JWK);
  });

  it('refuses the second of two processes with different keys', async () => {
    const starts = await Promise.allSettled([newKey(), newKey()].map((text) => secretsOf(database, text)));
    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await dataKeys()).toHaveLength(1);
  });

  it('wants a key, and begins nothing without', async () => {
    await expect(secretsOf(database, ' ')).rejects.toThrow('set TRADEWIND_ENCRYPTION_KEY_FILE to that file');
    expect(await dataKeys()).toEqual([]);
  });
});

describe('a database with secrets from before', () => {
  it('that older releases may still use stays as it is, until the operator says so', async () => {
    const id = await insert(JSON.stringify(JWK));
    const lines: string[] = [];
    const encryptionKeys = keysFrom(key);
    const secrets = createSecrets({ sql: database.sql, encryptionKeys });
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    await prepareSecrets(secrets, { database, clock, encryptionKeys, alone: false, log });
    expect(lines.join()).toContain('run \\"tradewind keys rotate\\"');
    expect(await kept(id)).toEqual(JWK);
    expect(secrets.seal(PLACE, ['x'], JWK)).toBe(JSON.stringify(JWK));
    expect((await rotate())?.changed).toBe(1);
    expect(await kept(id)).toMatch(/^sealed:1:/);
    expect(await secrets.open(PLACE, [id], await kept(id))).toEqual(JWK);
  });

  it('of nobody else is encrypted at the start, batch by batch, and its files forget what was there', async () => {
    const ids = await Promise.all(Array.from({ length: 450 }, () => insert(JSON.stringify(JWK))));
    const file = async () =>
      (await database.pool.query(`select pg_relation_filepath('signing_keys') as file`)).rows[0].file;
    const former = await file();
    const secrets = await startAlone();
    for (const id of ids) {
      expect(await kept(id)).toMatch(/^sealed:1:/);
      expect(await secrets.open(PLACE, [id], await kept(id))).toEqual(JWK);
    }
    expect(await file()).not.toBe(former);
    expect((await dataKeys())[0]?.completed_at).toBeInstanceOf(Date);
  });

  it('is finished by the next start where one broke off', async () => {
    await startAlone();
    await database.pool.query('update data_keys set completed_at = null');
    const id = await insert(JSON.stringify(JWK));
    await startAlone();
    expect(await kept(id)).toMatch(/^sealed:1:/);
  });
});

describe('a rotation', () => {
  it('encrypts everything anew, and running processes hear of it', async () => {
    const running = await secretsOf(database, key);
    const deaf = await secretsOf(database, key);
    const changes = await listenForChanges({ connectionString: testDatabase.url });
    onTestFinished(() => changes.close());
    running.follow(changes, () => {});
    const id = randomUUID();
    await insert(running.seal(PLACE, [id], JWK), id);
    const before = await kept(id);
    expect((await rotate())?.changed).toBe(1);
    const after = await kept(id);
    expect(after).not.toBe(before);
    for (const each of [running, deaf]) expect(await each.open(PLACE, [id], after)).toEqual(JWK);
    await expect.poll(() => running.seal(PLACE, [id], JWK)).toContain('sealed:1:2:');
    // Values that were read before, or written without hearing of the new key, can still be decrypted.
    expect(await (await secretsOf(database, key)).open(PLACE, [id], before)).toEqual(JWK);
  });

  it('between the start of a process and its ear for news is heard of, too', async () => {
    const id = await insert(JSON.stringify(JWK));
    const encryptionKeys = keysFrom(key);
    const starting = createSecrets({ sql: database.sql, encryptionKeys });
    await starting.load();
    await rotate();
    const changes = await listenForChanges({ connectionString: testDatabase.url });
    onTestFinished(() => changes.close());
    starting.follow(changes, () => {});
    // Otherwise it would write readable secrets, which no rotation would find.
    await expect.poll(() => starting.seal(PLACE, [id], JWK)).toContain('sealed:1:');
  });

  it.each(['tradewind', 'named otherwise'])(
    'waits for what is written (application_name %s) and not committed yet',
    async (name) => {
      const first = await insert(JSON.stringify(JWK));
      const writer = await database.pool.connect();
      await writer.query(`select set_config('application_name', $1, false)`, [name]);
      const id = randomUUID();
      await writer.query('begin');
      await writer.query('insert into signing_keys values ($1, $2, now())', [id, JSON.stringify(JWK)]);
      const rotation = rotate();
      await expect.poll(() => kept(first)).toMatch(/^sealed:1:/);
      await writer.query('select pg_sleep(1)');
      await writer.query('commit');
      writer.release();
      await rotation;
      expect(await kept(id)).toMatch(/^sealed:1:/);
    },
  );

  it('does not wait forever for what somebody else leaves open, and says who it is', async () => {
    await insert(JSON.stringify(JWK));
    const writer = await database.pool.connect();
    await writer.query(`set application_name = 'psql'`);
    await writer.query('begin');
    await writer.query('insert into signing_keys values ($1, $2, now())', [randomUUID(), JSON.stringify(JWK)]);
    const deps = { database, clock, encryptionKeys: keysFrom(key), pauseMs: 0 };
    const held = await rotateKeys({ ...deps, patienceMs: 200 });
    expect(held).toMatchObject({
      finished: false,
      changed: 1,
      heldUpBy: expect.stringMatching(/^psql \(pid/),
    });
    expect((await dataKeys()).at(-1)?.completed_at).toBeNull();
    await writer.query('commit');
    writer.release(true);
    expect(await rotate()).toMatchObject({ finished: true, changed: 2 });
  });

  it('goes over to another encryption key, which is enough from then on', async () => {
    const id = randomUUID();
    await insert((await secretsOf(database, key)).seal(PLACE, [id], JWK), id);
    const next = newKey();
    await rotate(`${next},${key}`);
    await expect(secretsOf(database, key)).rejects.toThrow('are encrypted with encryption key');
    expect(await (await secretsOf(database, next)).open(PLACE, [id], await kept(id))).toEqual(JWK);
  });

  it('changes nothing with a key that is not the database’s', async () => {
    await secretsOf(database, key);
    const before = await dataKeys();
    await expect(rotate(newKey())).rejects.toThrow('are encrypted with encryption key');
    expect(await dataKeys()).toEqual(before);
  });

  it('names what it can not read, and leaves it as it is: another one would not read it either', async () => {
    const secrets = await secretsOf(database, key);
    const id = await insert(secrets.seal(PLACE, ['of another row'], JWK));
    const before = await kept(id);
    expect((await rotate())?.unreadable).toEqual(new Map([[PLACE, 1]]));
    expect(await kept(id)).toBe(before);
    expect((await dataKeys()).at(-1)?.completed_at).toBeInstanceOf(Date);
  });

  it.each([1, 2, 99])('encrypts plain text that begins like what data key %s encrypts', async (keyId) => {
    await secretsOf(database, key);
    const id = await insert(JSON.stringify(`sealed:1:${keyId}:mine`));
    expect(await rotate()).toMatchObject({ changed: 1, unreadable: new Map() });
    expect(await (await secretsOf(database, key)).open(PLACE, [id], await kept(id))).toBe(`sealed:1:${keyId}:mine`);
  });

  it('ends although a process without the key goes on writing, and says so', async () => {
    // Each round of the sweep is answered by one more plain value, before those that it has passed.
    await database.pool.query(`
      create function write_on() returns trigger language plpgsql as $$ begin
        insert into signing_keys (id, jwk, created_at)
        select ('00000000-0000-0000-0000-' || lpad((999999 - count(*))::text, 12, '0'))::uuid, '{"d": 1}', now() from signing_keys;
        return null;
      end $$`);
    await database.pool.query(
      'create trigger write_on after update on signing_keys for each statement execute function write_on()',
    );
    await insert(JSON.stringify(JWK));
    expect(await rotate()).toMatchObject({ finished: false });
    expect((await dataKeys()).at(-1)?.completed_at).toBeNull();
    await database.pool.query('drop trigger write_on on signing_keys');
    expect(await rotate()).toMatchObject({ finished: true });
    expect((await dataKeys()).at(-1)?.completed_at).toBeInstanceOf(Date);
  });

  it('goes on after a deadlock with whoever removes what it encrypts', async () => {
    const row = (wantId: string) => `where kind = 'volume' and want_id = '${wantId}' and name = 'x'`;
    const [low, high] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    for (const id of [low, high]) {
      await database.pool.query(
        `insert into wants (kind, id, client_id, project_id, region_id) values ('volume', $1, 1, 1, 1)`,
        [id],
      );
      await database.pool.query(`insert into want_secrets values ('volume', $1, 'x', 'plain')`, [id]);
    }
    const removal = await database.pool.connect();
    await removal.query('begin');
    await removal.query(`select from want_secrets ${row(high)} for update`);
    const rotation = rotate();
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await database.pool.query(waiting)).rowCount, { interval: 20 }).toBe(1);
    // Whoever has waited longer looks for deadlocks first, and ends by it: the rotation.
    await removal.query(`delete from want_secrets ${row(low)}`);
    await removal.query('commit');
    removal.release();
    expect(await rotation).toMatchObject({ finished: true });
    const { rows } = await database.pool.query('select value from want_secrets');
    expect(rows).toEqual([{ value: expect.stringMatching(/^sealed:1:/) }]);
  });

  it('makes a new encryption key where it goes on, and none else', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-keys-'));
    onTestFinished(() => fs.rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'encryption-key');
    const write = (text: string) => fs.writeFileSync(file, `${text}\n`, { mode: 0o600 });
    const keysInFile = () => fs.readFileSync(file, 'utf8').trim().split('\n');
    const encryptionKeys = encryptionKeysOf({
      encryptionKey: undefined,
      encryptionKeyFile: file,
      encryptionKeyFileNamed: true,
    });
    const rotateAnew = () => rotateKeys({ database, clock, encryptionKeys, newKeyIn: file, pauseMs: 0 });
    await secretsOf(database, key);
    write(newKey());
    await expect(rotateAnew()).rejects.toThrow('are encrypted with encryption key');
    expect(keysInFile()).toHaveLength(1);
    write(key);
    const client = await database.pool.connect();
    await client.query(`select pg_advisory_lock(hashtextextended('tradewind encryption', 0))`);
    expect(await rotateAnew()).toBeUndefined();
    expect(keysInFile()).toEqual([key]);
    await client.query(`select pg_advisory_unlock_all()`);
    client.release();
    expect(await rotateAnew()).toBeDefined();
    expect(keysInFile()).toEqual([expect.not.stringContaining(key), key]);
    expect((await dataKeys()).map((each) => each.encryption_key_id)).toEqual(
      Array(2).fill(encryptionKeys.read()[0]?.id),
    );
  });

  it('leaves it to another that is at it', async () => {
    const client = await database.pool.connect();
    await client.query(`select pg_advisory_lock(hashtextextended('tradewind encryption', 0))`);
    expect(await rotate()).toBeUndefined();
    await client.query(`select pg_advisory_unlock_all()`);
    client.release();
    expect(await rotate()).toBeDefined();
  });
});

it('a lost key takes what it encrypted with it, and nothing else', async () => {
  const secrets = await secretsOf(database, key);
  const id = randomUUID();
  await insert(secrets.seal(PLACE, [id], JWK), id);
  const plain = await insert(JSON.stringify(JWK));
  const found = await lostSecrets(database.sql, keysFrom(newKey()));
  expect(found.counts).toEqual(new Map([[PLACE, 1]]));
  expect((await lostSecrets(database.sql, keysFrom(key))).dataKeyIds).toEqual([]);
  await giveUpLost(database, found.dataKeyIds);
  expect(await dataKeys()).toEqual([]);
  const left = await database.sql.selectFrom('signing_keys').select('id').execute();
  expect(left).toEqual([{ id: plain }]);
});
