import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { loadConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { systemClock as clock } from '../lib/time.ts';
import { ensureFirstAccount, type FirstToken, firstTokenFile, makeFirstToken } from './first-account.ts';
import { readyMessage } from './serve.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-token-'));
let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
  await ensureFirstAccount({ database, clock, bootstrapToken: undefined });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
  fs.rmSync(home, { recursive: true });
});

const make = (dataDir: string, databaseUrl?: string) =>
  makeFirstToken({ database, clock, file: firstTokenFile({ dataDir, databaseUrl }), terminal: false });

it("is made by a start that can keep it, in a file that is nobody else's", async () => {
  const blocked = path.join(home, 'file');
  fs.writeFileSync(blocked, '');
  expect(await make(blocked)).toEqual({ problem: expect.stringMatching(/file.first-token.*\(E\w+\)$/) });
  const dataDir = path.join(home, 'data');
  fs.mkdirSync(dataDir);
  // The owner of this file could read what is written into it.
  fs.writeFileSync(path.join(dataDir, 'first-token'), 'x', { mode: 0o666 });
  expect(await make(dataDir)).toEqual({ file: path.join(dataDir, 'first-token') });
  expect(fs.statSync(path.join(dataDir, 'first-token')).mode & 0o777).toBe(0o600);
  expect(fs.readFileSync(path.join(dataDir, 'first-token'), 'utf8')).toMatch(/^\d+_[0-9a-f]{64}\n$/);
  expect(await make(dataDir)).toBeUndefined();
});

it('has a file for each database', () => {
  const fileOf = (databaseUrl?: string) => path.basename(firstTokenFile({ dataDir: home, databaseUrl }));
  expect(fileOf()).toBe('first-token');
  expect(fileOf('postgresql://user:secret@db.example:5432/trade')).toBe('first-token-db.example-5432-trade');
  expect(fileOf('postgresql://user:secret@localhost/trade?host=/run')).toBe('first-token-localhost-trade');
});

it('is told of in the message, but never in it unless there is a terminal', () => {
  const dataDir = path.join(home, "it's");
  const config = loadConfig({ TRADEWIND_DATA_DIR: dataDir });
  const message = (firstToken: FirstToken | undefined) =>
    readyMessage({ address: { host: '0.0.0.0', port: 1 }, firstToken }, config);
  expect(message({ text: '7_x' })).toMatch(/^API token: 7_x$/m);
  expect(message({ file: 'f' })).toMatch(/is in f, which only this user can read[\s\S]*\$\(cat 'f'\)/);
  expect(message({ problem: 'p' })).toMatch(/no API token yet.*and p\.\nCreate one with "npx tradewind token create"/);
  expect(message(undefined)).toContain('shown at the first start');
  fs.mkdirSync(dataDir);
  fs.writeFileSync(path.join(dataDir, 'first-token'), '7_x');
  expect(message(undefined)).toContain(`$(cat '${dataDir.replace("'", "'\\''")}/first-token')`);
});
