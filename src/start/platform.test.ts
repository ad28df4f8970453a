import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createDatabase } from '../../test/support/databases.ts';
import { startRelay } from '../../test/support/relay.ts';
import { ENCRYPTION_KEY } from '../../test/support/secrets.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { loadConfig } from '../config.ts';
import { OperatorError } from '../lib/errors.ts';
import { createLog } from '../log.ts';
import { startPlatform } from './platform.ts';
import { openStorage } from './storage.ts';

let service: TestService | undefined;
afterEach(() => service?.stop());

it('says in one line that the port is taken, before a database is made', async () => {
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as net.AddressInfo;
  const dataDir = path.join(os.tmpdir(), `tradewind-none-${port}`);
  const config = loadConfig({ TRADEWIND_PORT: String(port), TRADEWIND_DATA_DIR: dataDir });
  const error = await startPlatform(config, 'all', createLog(config)).catch((fault: unknown) => fault);
  other.close();
  expect(fs.existsSync(dataDir)).toBe(false);
  expect(error).toBeInstanceOf(OperatorError);
  expect((error as Error).message).toMatch(new RegExp(`^The API can't listen .*${port}.* TRADEWIND_PORT.*$`));
});

it('a worker answers how it is, and its figures, where it is told to, and nothing else', async () => {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as net.AddressInfo;
  const database = await createDatabase();
  const config = loadConfig({
    DATABASE_URL: database.url,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_WORKER_PORT: String(port),
    TRADEWIND_AI_CONCURRENCY: '0',
    TRADEWIND_LOG_LEVEL: 'silent',
  });
  const taken = startPlatform(config, 'worker', createLog(config));
  await expect(taken).rejects.toThrow(/^The worker can't listen .* set TRADEWIND_WORKER_PORT to another/);
  await new Promise((resolve) => probe.close(resolve));

  const platform = await startPlatform(config, 'worker', createLog(config));
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const ready = await get('/readyz');
  expect(ready.status).toBe(200);
  expect(JSON.parse(ready.text)).toMatchObject({
    status: 'ready',
    role: 'worker',
    problems: {},
    degraded: {},
  });
  expect((await get('/metrics')).text).toMatch(/^tradewind_backend_up\{backend="simulated"\} 1$/m);
  expect(await get('/cloud/v1/projects')).toMatchObject({ status: 404 });
  await platform.stop(1_000);
  await database.drop();
});

it('cuts off a request that is not through when the time to stop is over', async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'silent' });
  const { http, url } = service;
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST /cloud/v1/pricing/1/1/volumes HTTP/1.1\r\nHost: x\r\nAuthorization: apikey ${http.token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  );
  // This is answered after half of the request arrived on another connection.
  await http.get('/healthz');
  const closed = once(socket, 'close');
  await service.stop();
  service = undefined;
  await closed;
});

it('makes no database for a catalogue that is no use', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-'));
  const dataDir = path.join(folder, 'data');
  try {
    const config = loadConfig({
      TRADEWIND_DATA_DIR: dataDir,
      TRADEWIND_CATALOG_DIR: path.join(folder, 'nowhere'),
      TRADEWIND_LOG_LEVEL: 'silent',
    });
    await expect(startPlatform(config, 'api', createLog(config))).rejects.toThrow(OperatorError);
    expect(fs.existsSync(dataDir)).toBe(false);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

it.each(['postgres://u:%zz@localhost/db', 'postgres://u:p@localhost/db?sslmode=verify-full&sslrootcert=/nope'])(
  'says in one line that %s is no use',
  async (url) => {
    const config = loadConfig({ DATABASE_URL: url, TRADEWIND_LOG_LEVEL: 'silent' });
    await expect(openStorage(config, createLog(config))).rejects.toThrow(OperatorError);
  },
);

it('says at each start that a relaxed database waits for no disk, and makes its tables once', async () => {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-relaxed-'));
  // The database belongs to another user where this one is root.
  fs.chmodSync(base, 0o755);
  const said: string[] = [];
  const log = pino({}, { write: (line: string) => said.push(JSON.parse(line).msg) });
  const WARNING = expect.stringMatching(/^TRADEWIND_DURABILITY=relaxed: /);
  async function tablesIn(folder: string) {
    const settings = { TRADEWIND_DURABILITY: 'relaxed', XDG_CACHE_HOME: path.join(base, 'cache') };
    const storage = await openStorage(loadConfig({ TRADEWIND_DATA_DIR: path.join(base, folder), ...settings }), log);
    const client = new pg.Client(storage.connection);
    await client.connect();
    expect((await client.query('show fsync')).rows).toEqual([{ fsync: 'off' }]);
    const { rows } = await client.query(`select to_regclass('clients') is not null as found`);
    await client.end();
    await storage.stop();
    return rows;
  }
  const creating = expect.stringMatching(/^creating the database in /);
  try {
    expect(await tablesIn('one')).toEqual([{ found: true }]);
    expect(said).toEqual([creating, 'Creating tables that later folders begin with', WARNING]);
    said.length = 0;
    expect(await tablesIn('two')).toEqual([{ found: true }]);
    expect(said).toEqual([creating, WARNING]);
  } finally {
    fs.rmSync(base, { recursive: true, force: true });
  }
});

it('says what the role lacks when it may not make the tables', async () => {
  const database = await createDatabase({ empty: true });
  service = undefined;
  try {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    await expect(startService({ DATABASE_URL: url.href, TRADEWIND_DATABASE_WAIT: '0' })).rejects.toThrow(
      /^Migrations could not start: .*read-only/,
    );
  } finally {
    await database.drop();
  }
});

describe('a database that does not answer', () => {
  it('is waited for, and again when it breaks off in the middle of the start', async () => {
    const database = await createDatabase({ empty: true });
    const relay = await startRelay(database.url);
    await relay.cut();
    try {
      const starting = startService({ DATABASE_URL: relay.url });
      starting.catch(() => {});
      await sleep(700);
      await relay.mend();
      // Cuts connections at arbitrary moments of the start.
      for (const ms of [100, 150, 250]) {
        await sleep(ms);
        await relay.cut();
        await sleep(50);
        await relay.mend();
      }
      service = await starting;
      const made = await service.http.post('/cloud/v1/volumes/1/1', {
        source: 'new-volume',
        name: 'disk',
        size: 1,
      });
      expect(made.status, made.text).toBe(200);
      expect((await service.http.task(made.body[0])).state).toBe('FINISHED');
    } finally {
      await service?.stop();
      service = undefined;
      await relay.cut();
      await database.drop();
    }
  });

  it('is not waited for longer than asked for, and then named', async () => {
    const config = loadConfig({
      DATABASE_URL: 'postgresql://u@localhost:1/nowhere',
      TRADEWIND_DATABASE_WAIT: '1',
      TRADEWIND_PORT: '0',
      TRADEWIND_LOG_LEVEL: 'silent',
    });
    await expect(startPlatform(config, 'api', createLog(config))).rejects.toThrow(
      /^The database of DATABASE_URL can't be reached: .*; start it, or correct host and port/,
    );
  });
});
