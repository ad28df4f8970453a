import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SOON } from '../../../test/support/http-client.ts';
import { addReseller } from '../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { version } from '../../lib/own-program.ts';

const VOLUME = { source: 'new-volume', name: 'waits', size: 1 };
const THIS = { host: os.hostname(), pid: process.pid, version };

/** Has a worker. */
let working: TestService;
/** Has none, so that everything waits, and a mail server that nobody reaches. */
let idle: TestService;
beforeAll(async () => {
  working = await startService({ TRADEWIND_TEST_API: 'true' });
  const mail = {
    TRADEWIND_SMTP_URL: 'smtp://somebody:hidden@127.0.0.1:1',
    TRADEWIND_MAIL_FROM: 'cloud@example.com',
  };
  idle = await startService(mail, { role: 'api' });
});
afterAll(async () => {
  await working?.stop();
  await idle?.stop();
});

async function look({ http }: Pick<TestService, 'http'>, what: string) {
  const answer = await http.get(`/tradewind/v1/platform/${what}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function queueOf(service: TestService, name: string) {
  const { results } = await look(service, 'queues');
  return results.find(({ queue }: { queue: string }) => queue === name);
}

it('is for the platform administrator, not for resellers', async () => {
  const { http } = await addReseller(idle, 'Curious');
  for (const what of ['processes', 'queues', 'checks', 'orphans']) {
    const answer = await http.get(`/tradewind/v1/platform/${what}`);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Only the platform administrator looks at the platform itself');
  }
});

it('shows the worker that has a task in hand', async () => {
  const { http, pool } = working;
  const workers = await pool.query('select id, started_at from workers');
  const worker = { ...THIS, worker_id: workers.rows[0].id, started_at: workers.rows[0].started_at.toISOString() };
  expect((await look(working, 'processes')).results).toEqual([
    { ...worker, seen_at: expect.any(String), ai_kinds: [], catalog_problem: null, regions: null, holds: [] },
  ]);
  const hold = { task: 'create_volume', name: 'held', do: { hold: true } };
  expect((await http.post('/tradewind/v1/test/faults', hold)).status).toBe(201);
  const made = await http.post('/cloud/v1/volumes/1/1', { ...VOLUME, name: 'held' });
  await vi.waitFor(async () => {
    const [{ holds }] = (await look(working, 'processes')).results;
    expect(holds).toContainEqual({ queue: 'infrastructure', count: 1 });
    expect((await queueOf(working, 'tasks')).kinds).toMatchObject([{ kind: 'create_volume', waiting: 0, running: 1 }]);
    expect(await queueOf(working, 'infrastructure')).toMatchObject({ waiting: 0, running: 1, failed_last_hour: null });
  }, SOON);
  await http.delete('/tradewind/v1/test/faults');
  await http.task(made.body[0]);
  await vi.waitFor(async () => expect((await look(working, 'processes')).results[0].holds).toEqual([]), SOON);
});

it('shows no worker that has stopped, and a process that takes no work', async () => {
  const seen_at = expect.any(String);
  const none = {
    ...THIS,
    worker_id: null,
    started_at: null,
    seen_at,
    ai_kinds: [],
    catalog_problem: null,
    regions: null,
    holds: [],
  };
  await idle.pool.query(
    `insert into workers (id, host, pid, beat_at) values (gen_random_uuid(), 'gone', 1, now() - interval '1 minute')`,
  );
  expect((await look(idle, 'processes')).results).toEqual([none]);
  await idle.pool.query(`
    with worker as (
      insert into workers (id, host, pid, capabilities)
      values (gen_random_uuid(), 'another', 7, '{"transcription": null, "categories": ["nsfw"]}') returning id
    ), made as (
      insert into mails (id, client_id, created_at, expires_at, kind, receiver, worker_id)
      select gen_random_uuid(), 1, now(), now() + interval '1 day', 'invitation', 'a@example.com', id from worker
    )
    update catalog_readers set problem = 'an unknown field'`);
  expect((await look(idle, 'processes')).results).toEqual(
    expect.arrayContaining([
      { ...none, catalog_problem: 'an unknown field' },
      expect.objectContaining({
        host: 'another',
        version: null,
        ai_kinds: ['nsfw'],
        holds: [{ queue: 'mails', count: 1 }],
      }),
    ]),
  );
  expect(await queueOf(idle, 'mails')).toMatchObject({ waiting: 0, running: 1, failing: 0, failed_last_hour: 0 });
});

it('counts what waits, since when, and what failed lately', async () => {
  const { http, pool } = idle;
  expect(await queueOf(idle, 'tasks')).toEqual({
    ...{ queue: 'tasks', waiting: 0, running: 0, oldest_waiting_since: null, failing: null, failed_last_hour: 0 },
    kinds: [],
  });
  const tasks: string[] = [];
  for (let made = 0; made < 3; made++) tasks.push((await http.post('/cloud/v1/volumes/1/1', VOLUME)).body[0]);
  await http.post('/cloud/v1/projects', { name: 'beside' });
  const url = 'https://media.example.com/a.mp4';
  await http.post('/streaming/ai/tasks', { task_name: 'content-moderation', category: 'nsfw', url });
  const first = await http.get(`/cloud/v1/tasks/${tasks[0]}`);
  const since = { oldest_waiting_since: expect.stringContaining(`${first.body.created_on.slice(0, 19)}`) };
  const three = { kind: 'create_volume', waiting: 3, running: 0, failed_last_hour: 0, ...since };
  expect(await queueOf(idle, 'tasks')).toMatchObject({ waiting: 3, ...since, kinds: [three] });
  expect(await queueOf(idle, 'infrastructure')).toMatchObject({
    kinds: expect.arrayContaining([expect.objectContaining({ kind: 'volume', waiting: 3, failing: 0 })]),
  });
  expect(await queueOf(idle, 'ai_tasks')).toMatchObject({ waiting: 1, kinds: [{ kind: 'nsfw', waiting: 1 }] });

  const end = (id: string | undefined, ago: string) =>
    pool.query(`update tasks set state = 'ERROR', error = 'broken', finished_on = now() - $2::interval where id = $1`, [
      id,
      ago,
    ]);
  await end(tasks[1], '59 minutes');
  await end(tasks[2], '61 minutes');
  expect((await queueOf(idle, 'tasks')).kinds).toMatchObject([{ ...three, waiting: 1, failed_last_hour: 1 }]);
});

it('checks what the command does, and tells no secret', async () => {
  const { checked_at, results } = await look(idle, 'checks');
  expect(Date.parse(checked_at)).toBeLessThanOrEqual(Date.now());
  expect(results).toContainEqual({
    name: 'Mail',
    state: 'limited',
    detail: expect.stringMatching(/^smtp:\/\/127\.0\.0\.1:1, from .*ECONNREFUSED/),
  });
  expect(results).toContainEqual(expect.objectContaining({ name: 'PostgreSQL of DATABASE_URL', state: 'ok' }));
  expect(JSON.stringify(results)).not.toContain('hidden');
  // A second look so soon is not worth its price.
  expect((await look(idle, 'checks')).checked_at).toBe(checked_at);
});

it('lists what a backend has and nobody wants', async () => {
  const id = randomUUID();
  await idle.pool.query(
    `insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
     values ('volume', $1, '{}', 'making', now(), 0)`,
    [id],
  );
  expect(await look(idle, 'orphans')).toEqual({
    checked_at: expect.any(String),
    count: 1,
    results: [{ backend: 'simulated', kind: 'volume', id, handle: null }],
    problems: [],
  });
});
