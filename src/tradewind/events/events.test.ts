import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { follow, type Received } from '../../../test/support/events.ts';
import { finishAiTask } from '../../../test/support/finished-ai-tasks.ts';
import { startService, type Tenant, type TestService } from '../../../test/support/service.ts';

const PATH = '/tradewind/v1/events';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startService();
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

const list = async (query = '', http = tenant.http) => (await http.get(`${PATH}?${query}`)).body;
const now = async (http = tenant.http): Promise<string> => (await list('', http)).cursor;
const makeGroup = (name: string) =>
  tenant.http.post(`/cloud/v1/securitygroups/${tenant.projectId}/1`, { security_group: { name } });
const makeVolume = async (name: string): Promise<string> => {
  const made = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, {
    name,
    size: 1,
    source: 'new-volume',
  });
  expect(made.status, made.text).toBe(200);
  return made.body[0];
};

describe('an accepted change', () => {
  it('is told with its ids, names, revisions and actor, as a CloudEvent', async () => {
    const cursor = await now();
    const { body: group, headers } = await makeGroup('told');
    await tenant.http.patch(`/cloud/v1/securitygroups/${tenant.projectId}/1/${group.id}`, {
      name: 'renamed',
    });
    const { events } = await list(`cursor=${cursor}`);
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'tradewind.security_group.created',
      'tradewind.security_group.updated',
    ]);
    const [created, updated] = events;
    expect(created).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: '/tradewind/v1',
      type: 'tradewind.security_group.created',
      subject: `security_group/${group.id}`,
      time: expect.any(String),
      datacontenttype: 'application/json',
      data: {
        client_id: tenant.clientId,
        project_id: tenant.projectId,
        region_id: 1,
        resources: [{ type: 'security_group', id: group.id, name: 'told' }],
        revision: null,
        task: null,
        actor: { user_id: expect.any(Number), client_id: tenant.clientId, token_id: expect.any(Number) },
        request_id: headers.get('x-request-id'),
        operation: 'createSecurityGroup',
      },
    });
    expect(updated.data.revision).toEqual({
      before: group.revision_number,
      after: group.revision_number + 1,
    });
    expect(updated.subject).toBe(created.subject);
  });

  it('has the revisions of the version that a client sees', async () => {
    await tenant.http.task(await makeVolume('versioned'));
    const volumes = await tenant.http.get(`/cloud/v1/volumes/${tenant.projectId}/1?name_part=versioned`);
    const path = `/cloud/v1/volumes/${tenant.projectId}/1/${volumes.body.results[0].id}`;
    const before = Number((await tenant.http.get(path)).headers.get('etag')?.slice(1, -1));
    const cursor = await now();
    await tenant.http.patch(path, { name: 'other name' });
    const after = Number((await tenant.http.get(path)).headers.get('etag')?.slice(1, -1));
    const { events } = await list(`cursor=${cursor}`);
    expect(events).toMatchObject([{ type: 'tradewind.volume.updated', data: { revision: { before, after } } }]);
    expect(after).toBeGreaterThan(before);
  });

  it('is not told when it is refused or rolled back', async () => {
    await makeGroup('only once');
    const cursor = await now();
    expect((await makeGroup('only once')).status).toBe(409);
    expect((await makeGroup('!')).status).toBe(400);
    expect((await list(`cursor=${cursor}`)).events).toEqual([]);
  });

  it('never tells a secret', async () => {
    const cursor = await now();
    const secret = `sesame-${randomUUID()}`;
    const made = await tenant.http.post(`/iam/v2/clients/${tenant.clientId}/tokens`, {
      name: secret,
      exp_date: null,
      client_user: { role: { name: 'Engineers' } },
    });
    expect(made.status, made.text).toBe(200);
    const pair = await tenant.http.post(`/cloud/v1/ssh_keys/${tenant.projectId}`, { name: 'pair' });
    const told = JSON.stringify((await list(`cursor=${cursor}`)).events);
    expect(told).toContain('tradewind.token.created');
    expect(told).toContain('tradewind.ssh_key.created');
    expect(told).not.toContain(made.body.token.split(/[_$]/)[1]);
    expect(told).not.toContain(pair.body.private_key.slice(40, 80));
    expect(told).not.toContain(secret);
  });
});

describe('a task', () => {
  it('is told from its creation to its end, in this order, with what is being done', async () => {
    const cursor = await now();
    const id = await makeVolume('in steps');
    await tenant.http.task(id);
    const { events } = await list(`cursor=${cursor}&subject=task/${id}`);
    const types = events.map(({ type }: { type: string }) => type.replace('tradewind.task.', ''));
    expect([types[0], types.at(-1)]).toEqual(['created', 'finished']);
    expect(types.filter((type: string) => type !== 'progressed')).toEqual(['created', 'started', 'finished']);
    expect(events.at(-1).data).toMatchObject({
      task: {
        id,
        type: 'create_volume',
        state: 'FINISHED',
        created_resources: { volumes: [expect.any(String)] },
      },
    });
    const all = (await list(`cursor=${cursor}`)).events;
    expect(all).toContainEqual(
      expect.objectContaining({
        type: 'tradewind.volume.created',
        data: expect.objectContaining({ task: { id } }),
      }),
    );
  });

  it('is told from its creation to its end, although its worker ends it before it notes the beginning', async () => {
    const cursor = await now();
    const id = await makeVolume('quick');
    await tenant.http.task(id);
    const quick = randomUUID();
    await service.pool.query(
      `insert into tasks select (jsonb_populate_record(task, jsonb_build_object('id', $2::text, 'state', 'NEW',
         'created_resources', null, 'updated_on', null, 'finished_on', null))).* from tasks as task where id = $1`,
      [id, quick],
    );
    await service.pool.query(
      `update tasks set state = 'FINISHED', finished_on = now(), created_resources = $2 where id = $1`,
      [quick, { volumes: [randomUUID()] }],
    );
    const { events } = await list(`cursor=${cursor}&subject=task/${quick}`);
    const told = events.map(({ type, data }: { type: string; data: { task: object } }) => [type, data.task]);
    const task = { id: quick, type: 'create_volume' };
    expect(told).toEqual([
      ['tradewind.task.created', { ...task, state: 'NEW' }],
      ['tradewind.task.started', { ...task, state: 'RUNNING' }],
      ['tradewind.task.finished', { ...task, state: 'FINISHED', created_resources: { volumes: [expect.any(String)] } }],
    ]);
  });

  it('that fails says why', async () => {
    const cursor = await now();
    const id = await makeVolume('fails');
    await service.pool.query(
      `update tasks set deadline_at = now() - interval '1 s' where id = $1 and state <> 'FINISHED'`,
      [id],
    );
    const task = await tenant.http.task(id);
    const { events } = await list(`cursor=${cursor}&subject=task/${id}`);
    const end = events.at(-1);
    expect([end.type, end.data.task.error]).toEqual(
      task.state === 'ERROR' ? ['tradewind.task.failed', task.error] : ['tradewind.task.finished', undefined],
    );
  });
});

it('tells the ids of what has been made outside the cloud', async () => {
  const cursor = await now(service.http);
  const { body: client } = await service.http.post('/iam/clients/create', { company: 'With an event' });
  const { body: setting } = await service.http.post('/iam/reselling/resellers/1/notification_settings', {
    notification_type: 'failed_login',
    email: 'ops@example.com',
  });
  const { body: token } = await service.http.post('/iam/v2/clients/1/tokens', {
    name: 'another',
    exp_date: null,
    client_user: { role: { name: 'Users' } },
  });
  const { events } = await list(`cursor=${cursor}`, service.http);
  expect(events.map(({ type, subject }: { type: string; subject: string }) => `${type} ${subject}`)).toEqual([
    `tradewind.client.created client/${client.id}`,
    `tradewind.notification_setting.created notification_setting/${setting.id}`,
    `tradewind.token.created token/${token.id}`,
  ]);
});

it('tells of an AI task', async () => {
  const cursor = await now(service.http);
  const made = await service.http.post('/streaming/ai/tasks', {
    task_name: 'transcription',
    url: 'https://media.example.com/a.mp4',
  });
  expect(made.status, made.text).toBe(201);
  const id = made.body.task_id;
  await finishAiTask(service.pool, id);
  const { events } = await list(`cursor=${cursor}&subject=ai_task/${id}`, service.http);
  expect(events).toMatchObject([
    { type: 'tradewind.ai_task.created', data: { resources: [{ type: 'ai_task', id, name: null }] } },
    { type: 'tradewind.ai_task.finished', data: { task: { id, type: 'transcription', state: 'SUCCESS' } } },
  ]);
});

describe('the list', () => {
  it('waits for the first event', async () => {
    const cursor = await now();
    const waiting = list(`cursor=${cursor}&wait=30`);
    const { body: group } = await makeGroup('awaited');
    const { events } = await waiting;
    expect(events).toMatchObject([{ subject: `security_group/${group.id}` }]);
  });

  it('comes in parts', async () => {
    const first = await now();
    for (const name of ['part one', 'part two', 'part three']) await makeGroup(name);
    const names: string[] = [];
    for (let cursor = first; ; ) {
      const part = await list(`cursor=${cursor}&limit=1`);
      if (part.events.length === 0) break;
      expect(part.events).toHaveLength(1);
      names.push(part.events[0].data.resources[0].name);
      cursor = part.cursor;
    }
    expect(names).toEqual(['part one', 'part two', 'part three']);
  });

  it('is filtered by type, project and subject', async () => {
    const cursor = await now();
    const { body: group } = await makeGroup('filtered');
    const { body: project } = await tenant.http.post('/cloud/v1/projects', { name: 'another' });
    const types = async (query: string) =>
      (await list(`cursor=${cursor}&${query}`)).events.map((one: { type: string }) => one.type);
    const [made, projectMade] = ['tradewind.security_group.created', 'tradewind.project.created'];
    expect(await types('type=tradewind.*')).toEqual(expect.arrayContaining([made, projectMade]));
    expect(await types('type=tradewind.security_group.*')).toEqual([made]);
    expect(await types(`type=${made}&type=tradewind.volume.created`)).toEqual([made]);
    expect(await types('type=tradewind.security_group.deleted')).toEqual([]);
    expect(await types(`project_id=${tenant.projectId}&type=tradewind.security_group.*`)).toEqual([made]);
    expect(await types(`project_id=${project.id}&type=${made}`)).toEqual([]);
    expect(await types(`subject=security_group/${group.id}`)).toEqual([made]);
    expect(await types(`subject=project/${project.id}`)).toEqual([projectMade]);
  });

  it.each([
    ['type=cluster', 'type'],
    ['type=tradewind.c*r.updated', 'type'],
    ['cursor=-1', 'cursor'],
    ['cursor=yesterday', 'cursor'],
    ['wait=61', 'wait'],
    ['limit=0', 'limit'],
    ['project_id=mine', 'project_id'],
  ])('refuses %s as problem details', async (query, field) => {
    const answer = await tenant.http.get(`${PATH}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(answer.body).toMatchObject({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      code: 'invalid',
    });
    expect(answer.body.errors[0].field).toContain(field);
  });

  it('is refused without credentials and without the right to read', async () => {
    expect((await service.anonymous.get(PATH)).status).toBe(401);
    const rightless = await service.withRole('Purge and Prefetch only (API)');
    expect((await rightless.get(PATH)).status).toBe(403);
  });

  it('says when events are no longer kept', async () => {
    const cursor = await now();
    await makeGroup('of yesterday');
    await service.pool.query(`update events set "time" = now() - interval '25 hours'`);
    const { forgetOldEvents } = await import('./store.ts');
    const { openDatabase } = await import('../../db/database.ts');
    const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
    await forgetOldEvents(database, { now: () => new Date() });
    await database.close();
    expect((await service.pool.query('select from events')).rows).toEqual([]);
    const missed = await list(`cursor=${cursor}`);
    expect(missed).toMatchObject({ reset: true, events: [] });
    await makeGroup('of today');
    const today = await list(`cursor=${missed.cursor}`);
    expect([today.reset, today.events[0].data.resources[0].name]).toEqual([false, 'of today']);
    expect((await list('cursor=oldest')).events).toHaveLength(1);
    // A cursor of another database.
    expect((await list('cursor=999999999')).reset).toBe(true);
    const stream = await follow(tenant.http, { headers: { 'last-event-id': cursor } });
    await stream.until((all) => all.length > 0);
    expect(stream.received[0]).toMatchObject({ event: 'reset' });
    await stream.stop();
  });
});

describe('a stream', () => {
  it.each(['text/event-stream', 'application/x-ndjson'])('tells what happens as %s', async (accept) => {
    const stream = await follow(tenant.http, {
      headers: { accept },
      query: 'type=tradewind.security_group.*',
    });
    expect(stream.contentType).toBe(`${accept}; charset=utf-8`);
    const names = ['alpha', 'beta', 'gamma'].map((name) => `${name} ${accept.slice(0, 4)}`);
    for (const name of names) await makeGroup(name);
    await stream.until((all) => all.length === 3);
    expect(stream.received.map(nameOf)).toEqual(names);
    await stream.stop();
  });

  it('continues after the last event that was received', async () => {
    const first = await follow(tenant.http, { query: 'type=tradewind.security_group.*' });
    await makeGroup('seen');
    await first.until((all) => all.length === 1);
    await first.stop();
    await makeGroup('missed');
    const second = await follow(tenant.http, {
      query: 'type=tradewind.security_group.*',
      headers: { 'last-event-id': first.received[0]?.id ?? '' },
    });
    await makeGroup('live');
    await second.until((all) => all.length === 2);
    expect(second.received.map(nameOf)).toEqual(['missed', 'live']);
    await second.stop();
  });

  it('is at the same address under both dialects', async () => {
    const stream = await follow({ ...tenant.http, base: `${tenant.http.base}/gcore` }, {});
    await makeGroup('by the other address');
    await stream.until((all) => all.length === 1);
    expect(stream.received.map(nameOf)).toEqual(['by the other address']);
    await stream.stop();
  });
});

it('tells nothing more to a token that is revoked', async () => {
  const made = await service.http.post(`/iam/v2/clients/${tenant.clientId}/tokens`, {
    name: 'revoked',
    exp_date: null,
    client_user: { role: { name: 'Users' } },
  });
  const stream = await follow({ base: tenant.http.base, token: made.body.token }, {});
  await makeGroup('before');
  await stream.until((all) => all.length === 1);
  expect((await tenant.http.delete(`/iam/v2/clients/${tenant.clientId}/tokens/${made.body.id}`)).status).toBe(204);
  let [ended, round] = [false, 0];
  void stream.ended.then(() => {
    ended = true;
  });
  await expect
    .poll(
      async () => {
        await makeGroup(`after ${++round}`);
        return ended;
      },
      { interval: 200 },
    )
    .toBe(true);
});

it('ends its streams when the server stops, and they continue with their cursor', async () => {
  const own = await startService();
  const stream = await follow(own.http, {});
  await own.stop();
  await stream.ended;
  expect(stream.received).toEqual([]);
  expect(stream.cursor()).toMatch(/^\d+$/);
});

describe('an account', () => {
  it('sees its own events, the platform administrator all of them', async () => {
    const [other, cursor] = [await service.otherTenant(), await now()];
    const { body: group } = await makeGroup('private');
    const subject = `cursor=${cursor}&subject=security_group/${group.id}`;
    expect((await list(subject)).events).toHaveLength(1);
    expect((await list(subject, other.http)).events).toEqual([]);
    expect((await list(`cursor=${cursor}&project_id=${tenant.projectId}`, other.http)).events).toEqual([]);
    expect((await list(subject, service.http)).events).toHaveLength(1);
  });

  it('tells those who may not manage it nothing of users and tokens', async () => {
    const engineer = await service.withRole('Engineers');
    const cursor = await now(service.http);
    await service.withRole('Users');
    await service.http.post('/cloud/v1/ssh_keys/1', { name: 'for all' });
    const types = async (http: typeof engineer) =>
      (await list(`cursor=${cursor}`, http)).events.map((one: { type: string }) => one.type);
    expect(await types(service.http)).toEqual(['tradewind.token.created', 'tradewind.ssh_key.created']);
    expect(await types(engineer)).toEqual(['tradewind.ssh_key.created']);
  });

  it('has 50 listeners at a time, whoever else listens', async () => {
    const [busy, other] = [await service.otherTenant(), await service.otherTenant()];
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow(busy.http, {})));
    const refused = await busy.http.get(PATH);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(refused.body.detail).toMatch(/an account may have 50 at a time/);
    expect((await other.http.get(PATH)).status).toBe(200);
    await Promise.all(streams.map((stream) => stream.stop()));
    await expect.poll(async () => (await busy.http.get(PATH)).status).toBe(200);
  });

  it('has its requests for events counted like others', async () => {
    const left = async () => {
      const { headers } = await tenant.http.get(`${PATH}?cursor=oldest&type=tradewind.nothing.*`);
      return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    };
    const first = await left();
    // A new window may begin in between.
    await expect.poll(async () => (await left()) - (await left())).toBe(1);
    expect(first).toBeLessThan(10_000);
  });
});

const nameOf = ({ data }: Received): string => data.data.resources[0].name;
