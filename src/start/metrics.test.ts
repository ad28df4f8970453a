import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SOON } from '../../test/support/http-client.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { openDatabase } from '../db/database.ts';
import { createDatabaseClock } from '../db/database-clock.ts';
import { systemClock } from '../lib/time.ts';
import { removalTimeOf } from './clocks.ts';
import { createMetrics } from './metrics.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());

const volume = (name: string) => service.http.post('/cloud/v1/volumes/1/1', { name, source: 'new-volume', size: 1 });

/** Returns the sum of the series that match, as they are at one moment. */
async function sumOf(series: RegExp): Promise<number> {
  const { text } = await service.anonymous.get('/metrics');
  const values = text.split('\n').filter((line) => series.test(line));
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

it('measures tasks and what backends do for them', async () => {
  const finished = /^tradewind_task_duration_seconds_count\{.*type="create_volume",.*state="FINISHED"/;
  const failed = /^tradewind_task_duration_seconds_count\{.*type="create_volume",.*state="ERROR"/;
  expect([await sumOf(finished), await sumOf(failed)]).toEqual([0, 0]);

  expect(await service.http.task((await volume('made')).body[0])).toMatchObject({ state: 'FINISHED' });
  await vi.waitFor(async () => expect(await sumOf(finished)).toBe(1), SOON);
  const settled = /^tradewind_backend_call_duration_seconds_count\{region="1",kind="volume",outcome="settled"/;
  expect(await sumOf(settled)).toBe(1);

  const rule = { task: 'create_volume', times: 1, do: { fail: 'no space' } };
  expect((await service.http.post('/tradewind/v1/test/faults', rule)).status).toBe(201);
  expect(await service.http.task((await volume('refused')).body[0])).toMatchObject({ state: 'ERROR' });
  await vi.waitFor(async () => expect(await sumOf(failed)).toBe(1), SOON);
});

it('counts what is waited for', async () => {
  const unended = () => sumOf(/^tradewind_unended_tasks\{/);
  expect(await unended()).toBe(0);
  await service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', do: { hold: true } });
  const { body } = await volume('held');
  expect(await unended()).toBe(1);
  expect(await sumOf(/^tradewind_oldest_unended_task_seconds /)).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    expect(await sumOf(/^tradewind_wants\{/)).toBeGreaterThan(0);
  }, SOON);
  await service.http.delete('/tradewind/v1/test/faults');
  await service.http.task(body[0]);
  expect(await unended()).toBe(0);
});

it('counts workers and connections', async () => {
  expect(await sumOf(/^tradewind_workers /)).toBe(1);
  expect(await sumOf(/^tradewind_database_up /)).toBe(1);
  for (const pool of ['main', 'work', 'queues']) {
    const ofPool = new RegExp(`^tradewind_database_connections\\{pool="${pool}",state="(busy|idle)"`);
    await vi.waitFor(async () => expect(await sumOf(ofPool)).toBeGreaterThan(0), SOON);
  }
});

it('counts passwords by what became of them', async () => {
  const wrong = /^tradewind_passwords_total\{outcome="wrong"/;
  const before = await sumOf(wrong);
  const login = { username: 'nobody@example.com', password: 'guessed' };
  expect((await service.anonymous.post('/iam/auth/jwt/login', login)).status).toBe(400);
  expect(await sumOf(wrong)).toBe(before + 1);
});

it('says who follows events, and for how long a transaction has held them up', async () => {
  const heldUp = /^tradewind_event_held_up_seconds /;
  const { cursor } = (await service.http.get('/tradewind/v1/events')).body;
  const following = service.http.get(`/tradewind/v1/events?cursor=${cursor}&wait=60&type=tradewind.ssh_key.created`);
  await expect.poll(() => sumOf(/^tradewind_event_listeners /)).toBe(1);
  await expect.poll(() => sumOf(heldUp)).toBe(0);
  const slow = await service.pool.connect();
  try {
    await slow.query('begin');
    await slow.query(
      `insert into events (client_id, type, subject, "time", data) values (1, 'tradewind.volume.updated', 'volume/1', now(), '{}')`,
    );
    await service.http.post('/cloud/v1/ssh_keys/1', { name: 'held up' });
    await expect.poll(() => sumOf(heldUp)).toBeGreaterThan(0);
  } finally {
    await slow.query('rollback');
    slow.release();
  }
  expect((await following).body.events).toHaveLength(1);
  await expect.poll(() => sumOf(/^tradewind_event_listeners /)).toBe(0);
});

it('says what waits to be sent to webhooks', async () => {
  const made = await service.http.post('/tradewind/v1/webhooks', {
    url: 'http://hooks.invalid/',
    types: ['tradewind.ssh_key.*'],
  });
  expect(made.status, made.text).toBe(201);
  await service.http.post('/cloud/v1/ssh_keys/1', { name: 'never sent' });
  await vi.waitFor(async () => {
    expect(await sumOf(/^tradewind_webhook_attempt_duration_seconds_count\{outcome="failed"/)).toBeGreaterThan(0);
    expect(await sumOf(/^tradewind_webhook_deliveries\{/)).toBe(1);
    expect(await sumOf(/^tradewind_webhook_oldest_delivery_seconds /)).toBeGreaterThan(0);
    expect(await sumOf(/^tradewind_event_lag_seconds\{reader="webhooks"\} 0$/)).toBe(0);
  }, SOON);
  await vi.waitFor(async () => expect(await sumOf(/^tradewind_failing_webhooks /)).toBe(1), SOON);
  await service.http.delete(`/tradewind/v1/webhooks/${made.body.id}`);
});

it('is there while the database does not answer, but for what that knows', async () => {
  const clocks = { databaseClock: createDatabaseClock(), removalTime: removalTimeOf(systemClock) };
  const away = openDatabase({ host: '127.0.0.1', port: 1 }, 1);
  const text = await createMetrics({ database: away, worker: undefined, clocks, folder: '/', open: false }).text();
  expect(text).toMatch(/^tradewind_database_up 0$/m);
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  expect(text).not.toContain('tradewind_workers');
  await away.close();
});
