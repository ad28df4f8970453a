import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { reservePort } from '../support/ports.ts';
import { build, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7$acceptance-secret';
const DAY_MS = 86_400_000;

const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((file) => fs.existsSync(file));
if (LIBRARY === undefined)
  process.stderr.write(
    'SKIPPED, for want of libfaketime, processes whose clocks differ: "npm run install:tests" installs it\n',
  );

/** The clock of a process by what is in a file, such as "+800d"; its monotonic one goes on. */
const faked = (file: string) => ({
  LD_PRELOAD: LIBRARY ?? '',
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

describe.runIf(LIBRARY)('a process whose clock is not that of the database', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let settings: Record<string, string>;
  let right: ServeProcess;
  let http: HttpClient;
  let file: string;
  const others: ServeProcess[] = [];
  const offset = (text: string) => fs.writeFileSync(file, text);

  beforeAll(async () => {
    build();
    database = await createDatabase({ empty: true });
    pool = new pg.Pool({ connectionString: database.url, max: 1 });
    settings = {
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: temporaryFolder(),
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_TASKS_KEPT_DAYS: '365',
    };
    right = await serve(settings, ['--role', 'api']);
    http = createHttpClient(right.url, TOKEN);
    file = path.join(temporaryFolder(), 'offset');
  });
  afterAll(async () => {
    await Promise.all([right, ...others].map((process) => process?.end()));
    await pool?.end();
    await database?.drop();
  });

  it.each([
    ['+800d', '800 days ahead of'],
    ['-2h', '2 hours behind'],
  ])(
    'does not start: %s',
    async (text, words) => {
      offset(text);
      for (const args of [
        ['serve', '--role', 'api'],
        ['serve', '--role', 'worker'],
        ['token', 'create'],
      ]) {
        const { status, stderr } = runTradewind(args, { ...settings, ...faked(file) });
        expect([status, stderr]).toEqual([
          70,
          expect.stringContaining(`Not started: the clock of this machine is ${words} that of the database.`),
        ]);
      }
    },
    120_000,
  );

  it('stops its work when it begins to differ, says so, and goes on when it is right again', async () => {
    const port = await reservePort();
    offset('+0');
    others.push(
      await serve({ ...settings, ...faked(file) }, ['--role', 'api']),
      await serve({ ...settings, ...faked(file), TRADEWIND_WORKER_PORT: String(port) }, ['--role', 'worker']),
    );
    const reports = [others[0]?.url ?? '', `http://127.0.0.1:${port}`].map((url) => createHttpClient(url, TOKEN));
    const states = () => Promise.all(reports.map(async (each) => (await each.get('/readyz')).status));
    await expect.poll(states).toEqual([200, 200]);
    const stays = await http.post('/iam/v2/clients/1/tokens', {
      name: 'until tomorrow',
      exp_date: new Date(Date.now() + DAY_MS).toISOString(),
      client_user: { role: { name: 'Users' } },
    });
    expect(stays.status, stays.text).toBe(200);
    const counts = async () => {
      const { rows } = await pool.query(
        `select (select count(*) from user_actions) as actions, (select count(*) from events) as events,
           (select count(*) from idempotency_keys) as keys, (select count(*) from api_tokens where deleted_at is null) as tokens`,
      );
      return rows[0];
    };
    await http.request('POST', '/cloud/v1/ssh_keys/1', {
      body: { name: 'kept' },
      headers: { 'idempotency-key': 'kept-for-a-day' },
    });
    const before = await counts();

    offset('+800d');
    await expect.poll(states).toEqual([503, 503]);
    for (const each of reports) {
      expect((await each.get('/readyz')).body.problems).toEqual({
        clock: 'the clock of this machine is 800 days ahead of that of the database',
      });
      const ahead = /^tradewind_clock_ahead_seconds (\S+)$/m.exec((await each.get('/metrics')).text)?.[1];
      expect(Number(ahead)).toBeGreaterThan(799 * 86_400);
    }
    const made = await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'later', size: 1 });
    expect(made.status, made.text).toBe(200);
    const [id] = made.body;
    // Long enough for several rounds of the worker, and for the first of housekeeping that would go by this clock.
    await expect
      .poll(
        async () => (await pool.query("select now() - min(beat_at) > interval '15 s' as old from workers")).rows[0].old,
        {
          timeout: 60_000,
        },
      )
      .toBe(true);
    expect((await http.get(`/v1/tasks/${id}`)).body.state).toBe('NEW');
    const after = await counts();
    for (const kind of ['actions', 'events', 'keys', 'tokens'])
      expect(Number(after[kind]), kind).toBeGreaterThanOrEqual(Number(before[kind]));
    // A request to the wrong process has the right time all the same.
    const asked = await reports[0]?.post('/cloud/v1/ssh_keys/1', { name: 'at the right time' });
    expect(Math.abs(Date.parse(asked?.body.created_at) - Date.now())).toBeLessThan(DAY_MS);

    offset('+0');
    await expect.poll(states).toEqual([200, 200]);
    await expect.poll(async () => (await http.get(`/v1/tasks/${id}`)).body.state).toBe('FINISHED');
  });
});
