import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { brokenInvariants } from '../test/acceptance/concurrency/invariants.ts';
import { furnish } from '../test/support/furnishing.ts';
import { createHttpClient } from '../test/support/http-client.ts';
import { startService, type TestService } from '../test/support/service.ts';

const KIT = '/tradewind/v1/test';
const GROUPS = '/cloud/v1/securitygroups/1/1';
const VOLUMES = '/cloud/v1/volumes/1/1';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true', TRADEWIND_LOG_LEVEL: 'error' });
});
afterAll(() => service.stop());
beforeEach(async () => {
  const { status, text } = await service.http.post(`${KIT}/reset`, { scope: 'all' });
  if (status !== 204) throw new Error(text);
});

/** When what was just made is there. */
const inOrder = () => expect.poll(() => brokenInvariants(service.pool), { interval: 200 }).toEqual([]);
const makeGroup = (name: string) => service.http.post(GROUPS, { security_group: { name } });
const groups = async (): Promise<string[]> =>
  (await service.http.get(GROUPS)).body.results.map(({ name }: { name: string }) => name);
const startVolume = async (name = 'data'): Promise<string> =>
  (await service.http.post(VOLUMES, { source: 'new-volume', name, size: 1 })).body[0];
const stateOf = async (task: string): Promise<string> => (await service.http.get(`/v1/tasks/${task}`)).body.state;

async function rule(body: object): Promise<number> {
  const made = await service.http.post(`${KIT}/faults`, body);
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const hits = async () =>
  (await service.http.get(`${KIT}/faults`)).body.results.map((one: { hits: number }) => one.hits);

describe('a reset', () => {
  it('brings back how it began, while work is in progress', async () => {
    const before = await groups();
    await makeGroup('gone-soon');
    await rule({ task: 'create_volume', do: { hold: true } });
    const held = await startVolume();
    await startVolume();
    const project = await service.http.post('/cloud/v1/projects', { name: 'gone-too' });
    expect(project.status).toBe(201);
    expect((await service.http.get(`/cloud/v1/projects/${project.body.id}`)).status).toBe(200);

    expect((await service.http.post(`${KIT}/reset`, { scope: 'all' })).status).toBe(204);
    expect(await groups()).toEqual(before);
    expect((await service.http.get(VOLUMES)).body.results).toEqual([]);
    expect((await service.http.get(`/v1/tasks/${held}`)).status).toBe(404);
    // It was in a cache.
    expect((await service.http.get(`/cloud/v1/projects/${project.body.id}`)).status).toBe(404);
    expect((await service.http.get('/cloud/v2/client_quotas')).body.regional_quotas).toEqual([]);
    // All goes on as at the beginning.
    expect(await service.http.task(await startVolume())).toMatchObject({ state: 'FINISHED' });
    const again = await service.http.post('/cloud/v1/projects', { name: 'gone-too' });
    expect(again.body.id).toBe(project.body.id);
  });

  it('leaves nothing of what was refused a moment before', async () => {
    const project = await service.http.post('/cloud/v1/projects', { name: 'x' });
    expect((await service.http.patch(`/cloud/v1/projects/${project.body.id}`, { name: 1 })).status).toBe(400);
    expect((await service.http.post(`${KIT}/reset`, { scope: 'all' })).status).toBe(204);
    expect((await service.http.get('/cloud/v1/request_log')).body.results).toEqual([]);
  });

  it('leaves nothing of what workers were making', async () => {
    await rule({ task: 'create_volume', do: { hold: true } });
    await startVolume();
    await expect.poll(hits).toEqual([1]);
    // The reset lets the volume go on, and then waits; the worker's call waits behind it.
    const client = await service.pool.connect();
    await client.query('begin; lock table simulated_objects in row exclusive mode');
    const reset = service.http.post(`${KIT}/reset`, { scope: 'all' });
    await sleep(300);
    await client.query('commit');
    client.release();
    expect((await reset).status).toBe(204);
    await inOrder();
  });
});

describe('a reset of a part', () => {
  const reset = (body: object) => service.http.post(`${KIT}/reset`, body);
  const wantsOf = async (projectId: number) =>
    (
      await service.pool.query(
        `select kind, count(*)::int from wants where project_id = $1 group by kind order by kind`,
        [projectId],
      )
    ).rows;
  const namesIn = async (http: typeof service.http, path: string): Promise<string[]> =>
    (await http.get(path)).body.results.map(({ name }: { name: string }) => name);

  it('leaves one project as a new one, and others as they are', async () => {
    const tenant = await service.otherTenant();
    const id = (await tenant.http.post('/cloud/v1/projects', { name: 'tried' })).body.id;
    const before = await wantsOf(id);
    await furnish(tenant.http, id);
    await furnish(tenant.http, tenant.projectId, { clusters: false });
    const kept = await wantsOf(tenant.projectId);
    await rule({ task: 'create_volume', do: { hold: true } });
    const [held] = (
      await tenant.http.post(`/cloud/v1/volumes/${id}/1`, { source: 'new-volume', name: 'held', size: 1 })
    ).body;
    expect((await reset({ scope: 'project', id })).status).toBe(204);
    expect(await wantsOf(id)).toEqual(before);
    expect(await wantsOf(tenant.projectId)).toEqual(kept);
    expect((await tenant.http.get(`/v1/tasks/${held}`)).status).toBe(404);
    for (const kind of ['instances', 'volumes', 'loadbalancers', 'floatingips', 'ports', 'k8s/clusters'])
      expect((await tenant.http.get(`/cloud/v1/${kind}/${id}/1`)).body.results, kind).toEqual([]);
    expect(await namesIn(tenant.http, `/cloud/v1/securitygroups/${id}/1`)).toEqual(['default']);
    // Quotas and addresses are those of the other project, and all goes on.
    await inOrder();
    await service.http.delete(`${KIT}/faults`);
    await furnish(tenant.http, id, { clusters: false });
    await inOrder();
  });

  it('leaves an account its users, tokens and an empty default project', async () => {
    const tenant = await service.otherTenant();
    const more = (await tenant.http.post('/cloud/v1/projects', { name: 'more' })).body.id;
    await furnish(tenant.http, more, { clusters: false });
    await tenant.http.post(`/cloud/v1/ssh_keys/${tenant.projectId}`, { name: 'gone' });
    const hook = { url: 'https://hooks.example.com/in', types: ['tradewind.webhook.test'] };
    await tenant.http.post('/tradewind/v1/webhooks', hook);
    const headers = { 'idempotency-key': 'the-same-again' };
    const once = () => tenant.http.request('POST', '/cloud/v1/projects', { body: { name: 'once' }, headers });
    expect((await once()).status).toBe(201);
    expect((await reset({ scope: 'client', id: tenant.clientId })).status).toBe(204);
    expect(await namesIn(tenant.http, '/cloud/v1/projects?include_deleted=true')).toEqual(['Default']);
    expect((await tenant.http.get(`/cloud/v1/volumes/${more}/1`)).status).toBe(404);
    expect((await tenant.http.get('/tradewind/v1/webhooks')).body.results).toEqual([]);
    expect((await tenant.http.get(`/cloud/v1/ssh_keys/${tenant.projectId}`)).body.results).toEqual([]);
    expect((await once()).headers.get('idempotency-replayed')).toBeNull();
    await inOrder();
  });

  it('is of something that there is', async () => {
    expect((await reset({ scope: 'project' })).status).toBe(400);
    expect((await reset({ scope: 'all', id: 1 })).status).toBe(400);
    expect((await reset({ scope: 'region', id: 1 })).status).toBe(400);
    expect((await reset({ scope: 'project', id: 999_999 })).status).toBe(404);
    expect((await reset({ scope: 'client', id: 999_999 })).status).toBe(404);
    await makeGroup('of-the-own-account');
    expect((await reset({ scope: 'client' })).status).toBe(204);
    expect(await groups()).toEqual(['default']);
  });
});

/** How many statements that begin so wait for a lock. */
const waiting = async (statement: string): Promise<number> =>
  (
    await service.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and starts_with(query, $1)`,
      [statement],
    )
  ).rows.length;

it('takes back what is just being written', async () => {
  const other = await service.pool.connect();
  try {
    await other.query(
      `begin; insert into user_action_subscriptions (client_id, url, auth_header_name, auth_header_value, due_at, sent_until, created_at)
       values (1, 'https://example.com/', 'x', 'y', now(), now(), now())`,
    );
    const reset = service.http.post(`${KIT}/reset`, { scope: 'all' });
    await expect.poll(() => waiting('lock table')).toBe(1);
    await other.query('commit');
    expect((await reset).status).toBe(204);
    expect((await other.query('select from user_action_subscriptions')).rows).toEqual([]);
  } finally {
    other.release(true);
  }
});

describe('a snapshot', () => {
  it('is of one moment, and gives way while something is being written', async () => {
    await rule({ task: 'create_volume', do: { hold: true } });
    const other = await service.pool.connect();
    try {
      await other.query('begin; lock table user_action_subscriptions in access exclusive mode');
      const taken = service.http.post(`${KIT}/snapshots`, { name: 'meanwhile' });
      await expect.poll(() => waiting('lock table')).toBe(1);
      expect(await stateOf(await startVolume('earlier'))).toMatch(/NEW|RUNNING/);
      await other.query('commit');
      expect((await taken).status).toBe(201);
      await startVolume('later');
    } finally {
      other.release(true);
    }
    expect((await service.http.post(`${KIT}/snapshots/meanwhile/restore`)).status).toBe(204);
    expect((await service.http.get(VOLUMES)).body.results).toMatchObject([{ name: 'earlier' }]);
    expect((await service.pool.query(`select from wants where kind = 'volume'`)).rows).toHaveLength(1);
    await service.http.delete(`${KIT}/snapshots/meanwhile`);
  });

  it('can be gone back to as often as needed', async () => {
    await service.http.task(await startVolume('kept'));
    expect((await service.http.post(`${KIT}/snapshots`, { name: 'one-volume' })).status).toBe(201);
    const { body } = await service.http.get(VOLUMES);
    for (const round of [1, 2]) {
      await service.http.delete(`${VOLUMES}/${body.results[0].id}`);
      await makeGroup(`round-${round}`);
      expect((await service.http.post(`${KIT}/snapshots/one-volume/restore`)).status).toBe(204);
      expect((await service.http.get(VOLUMES)).body).toEqual(body);
      expect(await groups()).not.toContain(`round-${round}`);
    }
    // Nearly everything refers to a project, and nothing else has changed.
    const project = (await service.http.get('/cloud/v1/projects/1')).body;
    await service.pool.query(`update projects set name = 'renamed' where id = 1`);
    expect((await service.http.post(`${KIT}/snapshots/one-volume/restore`)).status).toBe(204);
    expect((await service.http.get('/cloud/v1/projects/1')).body).toEqual(project);
    expect((await service.http.get(VOLUMES)).body).toEqual(body);
    expect((await service.http.post(`${KIT}/snapshots`, { name: 'one-volume' })).status).toBe(409);
    expect((await service.http.get(`${KIT}/snapshots`)).body.results).toEqual([{ name: 'one-volume' }]);
    expect((await service.http.delete(`${KIT}/snapshots/one-volume`)).status).toBe(204);
    expect((await service.http.post(`${KIT}/snapshots/one-volume/restore`)).status).toBe(404);
  });

  it('of work in progress goes on with it', async () => {
    const held = await rule({ task: 'create_volume', do: { hold: true } });
    const task = await startVolume();
    await expect.poll(() => stateOf(task)).toBe('RUNNING');
    await service.http.post(`${KIT}/snapshots`, { name: 'halfway' });
    await service.http.delete(`${KIT}/faults/${held}`);
    expect(await service.http.task(task)).toMatchObject({ state: 'FINISHED' });
    await service.http.post(`${KIT}/snapshots/halfway/restore`);
    expect(await service.http.task(task)).toMatchObject({ state: 'FINISHED' });
    await service.http.delete(`${KIT}/snapshots/halfway`);
  });
});

describe('a rule', () => {
  it('answers the n-th request of an operation with a status, and counts', async () => {
    await rule({
      operation: 'createSecurityGroup',
      name: 'web-*',
      nth: 2,
      do: { status: 503, retry_after: 3 },
    });
    expect((await makeGroup('web-1')).status).toBe(200);
    expect((await makeGroup('other')).status).toBe(200);
    const refused = await makeGroup('web-2');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '3']);
    expect((await makeGroup('web-2')).status).toBe(200);
    expect(await hits()).toEqual([1]);
  });

  it('cuts a connection after everything is done, or before', async () => {
    await rule({ operation: 'createSecurityGroup', name: 'done', do: { drop: 'after_commit' } });
    await rule({ operation: 'createSecurityGroup', name: 'not-done', do: { drop: 'before' } });
    await expect(makeGroup('done')).rejects.toThrow('fetch failed');
    await expect(makeGroup('not-done')).rejects.toThrow('fetch failed');
    const names = await groups();
    expect([names.includes('done'), names.includes('not-done')]).toEqual([true, false]);
  });

  it('lets a request wait, or find its quota used up', async () => {
    await rule({ operation: 'createVolume', do: { quota: 'volume_count' } });
    const { status, body } = await service.http.post(VOLUMES, {
      source: 'new-volume',
      name: 'data',
      size: 1,
    });
    expect([status, body.info.attribute]).toEqual([403, 'volume_count']);
    await rule({ operation: 'listSecurityGroups', do: { delay_ms: 30 } });
    await groups();
    expect(await hits()).toEqual([1, 1]);
  });

  it('lets tasks fail, by their type and by what they make', async () => {
    await rule({ task: 'create_volume', name: 'bad-*', do: { fail: 'no space left' } });
    expect(await service.http.task(await startVolume('bad-disk'))).toMatchObject({
      state: 'ERROR',
      error: expect.stringContaining('no space left'),
    });
    expect(await service.http.task(await startVolume('good'))).toMatchObject({ state: 'FINISHED' });
    await rule({ kind: 'volume', times: 1, do: { fail: 'out of luck' } });
    expect(await service.http.task(await startVolume())).toMatchObject({ state: 'ERROR' });
    expect(await service.http.task(await startVolume())).toMatchObject({ state: 'FINISHED' });
    expect(await hits()).toEqual([1, 1]);
  });

  it('holds tasks of an account until it is deleted', async () => {
    const id = await rule({ client_id: 1, task: 'create_volume', do: { hold: true } });
    const task = await startVolume();
    await expect.poll(() => stateOf(task)).toBe('RUNNING');
    await service.http.delete(`${KIT}/faults/${id}`);
    expect(await service.http.task(task)).toMatchObject({ state: 'FINISHED' });
    await rule({ client_id: 2, task: 'create_volume', do: { fail: 'not of this account' } });
    expect(await service.http.task(await startVolume())).toMatchObject({ state: 'FINISHED' });
  });

  it.each([
    ['an unknown effect', { do: { explode: true } }],
    ['an operation that nobody knows', { operation: 'createSecurtyGroup', do: { status: 503 } }],
    ['a type of tasks that nobody knows', { task: 'create_voulme', do: { hold: true } }],
    ['a type of tasks that it could never reach', { task: 'delete_client', do: { hold: true } }],
    ['a kind of things that nobody knows', { kind: 'machin', do: { hold: true } }],
    ['an effect of tasks on requests', { operation: 'createVolume', do: { hold: true } }],
    ['an effect of requests on tasks', { task: 'create_volume', do: { status: 500 } }],
  ])('is refused with %s', async (_, body) => {
    expect((await service.http.post(`${KIT}/faults`, body)).status).toBe(400);
    expect((await service.http.delete(`${KIT}/faults/77`)).status).toBe(404);
  });

  it.each([
    [{}, 'do', 'Must have one of: status, delay_ms, drop, quota, fail, hold.'],
    [{ statsu: 500 }, 'do', 'Must have one of: status, delay_ms, drop, quota, fail, hold.'],
    [{ status: 500, hold: true }, 'do', 'Must have only one of: status, hold.'],
    [{ status: 200 }, 'do.status', 'Must be at least 400.'],
    [{ hold: false }, 'do.hold', 'Must be true.'],
    [{ retry_after: 1 }, 'do.status', 'This field is required.'],
  ])('says of the effect %j what to send instead', async (effect, field, detail) => {
    const answer = await service.http.post(`${KIT}/faults`, { do: effect });
    expect([answer.status, answer.body.errors]).toEqual([400, [{ field, detail }]]);
  });
});

describe('a rule for what does not exist', () => {
  it.each([
    [{ operation: 'createSecurtyGroup' }, 'did you mean createSecurityGroup?'],
    [{ operation: 'nothing-like-it' }, 'see operationId in /openapi.json'],
    [{ task: 'create_voulme' }, 'did you mean create_volume?'],
    [{ kind: 'machin' }, 'did you mean machine?'],
    [{ kind: 'server' }, 'volume, snapshot, image'],
  ])('says of %o: %s', async (where, hint) => {
    const { body } = await service.http.post(`${KIT}/faults`, { ...where, do: { delay_ms: 1 } });
    expect(body.status).toBe(400);
    expect(JSON.stringify(body)).toContain(hint);
    expect((await service.http.get(`${KIT}/faults`)).body.results).toEqual([]);
  });
});

describe('the clock', () => {
  it('is set, moved on and stopped, for whatever asks for the time', async () => {
    const set = await service.http.post(`${KIT}/clock`, { at: '2027-03-01T00:00:00Z', running: false });
    expect(set.body).toEqual({ at: '2027-03-01T00:00:00.000Z', running: false });
    const { body } = await makeGroup('of-march');
    expect(body.created_at).toBe('2027-03-01T00:00:00+0000');
    await service.http.post(`${KIT}/clock`, { advance_s: 86_400 });
    expect((await service.http.get(`${KIT}/clock`)).body.at).toBe('2027-03-02T00:00:00.000Z');
    expect((await service.http.post(`${KIT}/clock`, { running: true })).body.running).toBe(true);
    expect((await service.http.post(`${KIT}/clock`, {})).status).toBe(400);
  });

  it('ends tokens, and counts what is used and what it costs', async () => {
    await service.http.post(`${KIT}/clock`, { at: '2027-03-01T00:00:00Z' });
    const made = await service.http.post('/iam/v2/clients/1/tokens', {
      name: 'for a day',
      exp_date: '2027-03-02T00:00:00Z',
      client_user: { role: { name: 'Users' } },
    });
    const guest = createHttpClient(service.url, made.body.token);
    expect((await guest.get(GROUPS)).status).toBe(200);
    await service.http.task(await startVolume());
    await service.http.post(`${KIT}/clock`, { at: '2027-03-03T00:00:00Z', running: false });
    expect((await guest.get(GROUPS)).status).toBe(401);
    const period = { time_from: '2027-03-01T00:00:00Z', time_to: '2027-04-01T00:00:00Z' };
    const { body: totals } = await service.http.post('/cloud/v1/cost_report/totals', period);
    const [{ billing_value, cost }] = totals.results.filter((one: { type: string }) => one.type === 'volume');
    // Two days in minutes: the clock went on while the volume was made.
    expect(billing_value).toBeCloseTo(2_880, -2);
    expect(cost).toBeGreaterThan(0);
  });

  it('ends tasks whose deadline is over', async () => {
    await rule({ task: 'create_volume', do: { hold: true } });
    const task = await startVolume();
    await expect.poll(() => stateOf(task)).toBe('RUNNING');
    await service.http.post(`${KIT}/clock`, { advance_s: 7 * 86_400 });
    expect(await service.http.task(task)).toMatchObject({
      state: 'ERROR',
      error: expect.stringContaining('deadline exceeded'),
    });
  });
});

describe('simulated work', () => {
  it('that takes long is hurried, all of it or one task', async () => {
    await service.http.post(`${KIT}/simulation`, { speed: 0.01 });
    const [one, other] = [await startVolume(), await startVolume()];
    for (const task of [one, other]) await expect.poll(() => stateOf(task)).toBe('RUNNING');
    expect((await service.http.post(`${KIT}/tasks/${one}/finish`)).status).toBe(204);
    expect([await stateOf(one), await stateOf(other)]).toEqual(['FINISHED', 'RUNNING']);
    expect((await service.http.get(`${KIT}/simulation`)).body).toEqual({ speed: 0.01 });
    await service.http.post(`${KIT}/simulation`, { speed: 1_000 });
    expect(await service.http.task(other)).toMatchObject({ state: 'FINISHED' });
  });

  it('ends with a reason that a test gives', async () => {
    await rule({ task: 'create_volume', do: { hold: true } });
    const task = await startVolume();
    const failed = await service.http.post(`${KIT}/tasks/${task}/fail`, { reason: 'as the test wants it' });
    expect(failed.status).toBe(204);
    expect(await service.http.task(task)).toMatchObject({ state: 'ERROR', error: 'as the test wants it' });
    expect((await service.http.post(`${KIT}/tasks/${task}/fail`, { reason: 'again' })).status).toBe(409);
    expect((await service.http.post(`${KIT}/tasks/unknown/finish`)).status).toBe(404);
  });
});

it('shows the last requests, without what is secret', async () => {
  await makeGroup('seen');
  await service.http.post('/cloud/v1/secrets/1/1', { name: 'key', payload: 'hidden-payload' });
  const seen = await service.http.get(`${KIT}/requests?operation=createSecurityGroup`);
  expect(seen.body.results).toMatchObject([
    {
      method: 'POST',
      path: GROUPS,
      operation: 'createSecurityGroup',
      client_id: 1,
      status: 200,
      request: { security_group: { name: 'seen' } },
      answer: { name: 'seen' },
    },
  ]);
  const all = await service.http.get(`${KIT}/requests`);
  expect(all.body.results).toHaveLength(2);
  expect(all.text).not.toContain('hidden-payload');
});

it('is for the platform administrator, and only there when asked for', async () => {
  const { http } = await service.otherTenant();
  const reset = { scope: 'all' };
  expect((await http.post(`${KIT}/reset`, reset)).status).toBe(403);
  expect((await service.anonymous.post(`${KIT}/reset`, reset)).status).toBe(401);
  const plain = await startService();
  const absent = await plain.http.post(`${KIT}/reset`, reset);
  expect([absent.status, absent.text]).toEqual([404, expect.stringContaining('TRADEWIND_TEST_API=true')]);
  // Where there is one, a word that is wrong is not its absence.
  const wrong = await service.http.post(`${KIT}/rest`, reset);
  expect([wrong.status, wrong.text]).toEqual([404, expect.not.stringContaining('TRADEWIND_TEST_API')]);
  await plain.stop();
});
