import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { type Relay, startRelay } from '../../test/support/relay.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { openDatabase } from './database.ts';
import { isOutage } from './outages.ts';

let behind: TestDatabase;
let relay: Relay;
let service: TestService;
beforeAll(async () => {
  behind = await createDatabase();
  relay = await startRelay(behind.url);
  service = await startService({ DATABASE_URL: relay.url, TRADEWIND_LOG_LEVEL: 'silent' });
});
afterAll(async () => {
  await service.stop();
  await relay.cut();
  await behind.drop();
});

it('answers 503 while the database is away, in each area, and works again when it is back', async () => {
  const name = 'made before the outage';
  expect((await service.http.post('/cloud/v1/securitygroups/1/1', { security_group: { name } })).status).toBe(200);
  await relay.cut();
  const read = await service.http.get('/cloud/v1/securitygroups/1/1');
  expect(read.status, read.text).toBe(503);
  expect(read.headers.get('retry-after')).toBe('1');
  expect(read.body).toMatchObject({
    exception_class: 'UnavailableError',
    message: expect.stringContaining('try again'),
  });
  const write = await service.http.post('/cloud/v1/securitygroups/1/1', {
    security_group: { name: 'made in it' },
  });
  expect(write.status, write.text).toBe(503);
  expect((await service.http.get('/streaming/ai/tasks')).body).toEqual({ error: read.body.message });
  expect((await service.http.get('/iam/admin/paid_features')).body).toEqual({ message: read.body.message });
  expect((await service.http.get('/readyz')).status).toBe(503);
  expect((await service.http.get('/healthz')).status).toBe(200);

  await relay.mend();
  const again = await service.http.get(`/cloud/v1/securitygroups/1/1?name=${encodeURIComponent(name)}`);
  expect(again.status, again.text).toBe(200);
  expect(again.body.count).toBe(1);
});

it('survives the loss of a connection in the middle of a transaction', async () => {
  const database = openDatabase({ connectionString: behind.url });
  const killer = new pg.Client(behind.url);
  await killer.connect();
  try {
    const broken = database.transaction(async ({ client }) => {
      const { rows } = await client.query('select pg_backend_pid() as pid');
      await killer.query('select pg_terminate_backend($1)', [rows[0].pid]);
      // The error arrives while no query runs on the connection.
      await sleep(50);
      await client.query('select 1');
    });
    await expect(broken).rejects.toSatisfy(isOutage);
    expect(await database.transaction(async ({ client }) => (await client.query('select 1')).rowCount)).toBe(1);
  } finally {
    await killer.end();
    await database.close();
  }
});

it('takes a fault of the statement itself for none', async () => {
  const database = openDatabase({ connectionString: behind.url });
  try {
    const fault = await database.pool.query('select 1/0').catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Error);
    expect(isOutage(fault)).toBe(false);
    expect(isOutage(new Error('something else'))).toBe(false);
  } finally {
    await database.close();
  }
});
