import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DRY_RUN } from '../../test/support/dry-runs.ts';
import type { HttpClient } from '../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../test/support/service.ts';

const GROUPS = '/cloud/v1/securitygroups/1/1';
const VOLUMES = '/cloud/v1/volumes/1/1';
const NOTHING = { tasks: [], changes: [], price_per_month_difference: 0, quotas: [] };

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

function dry(
  method: string,
  path: string,
  body?: object,
  { http = service.http, headers = {} }: { http?: HttpClient; headers?: Record<string, string> } = {},
) {
  return http.request(method, path, { body, headers: { ...headers, ...DRY_RUN } });
}

async function makeVolume(size: number): Promise<string> {
  const body = { source: 'new-volume', name: 'data', size, type_name: 'standard' };
  const [task] = (await service.http.post(VOLUMES, body)).body;
  const { created_resources } = await service.http.task(task);
  return created_resources.volumes[0];
}

async function monthOf(size: number): Promise<number> {
  const preview = await service.http.post('/cloud/v1/pricing/1/1/volumes', {
    source: 'new-volume',
    size,
    type_name: 'standard',
  });
  expect(preview.body.price_per_month).toBeGreaterThan(0);
  return preview.body.price_per_month;
}

describe('tells of a change', () => {
  it('which tasks it would start, what they would make, its price and what is left of quotas', async () => {
    const body = { source: 'new-volume', name: 'data', size: 10, type_name: 'standard' };
    const answer = await dry('POST', VOLUMES, body);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const id = answer.body.tasks[0].steps[0].id;
    expect(answer.body).toEqual({
      tasks: [{ type: 'create_volume', steps: [{ action: 'create', kind: 'volume', id }] }],
      resource: `${VOLUMES}/${id}`,
      changes: [{ op: 'add', path: '', value: expect.objectContaining({ id, name: 'data', status: 'creating' }) }],
      price_per_month_difference: await monthOf(10),
      currency_code: 'EUR',
      quotas: [{ region_id: 1, attribute: 'volume_count', used_before: 0, used: 1 }],
    });
    expect((await service.http.get(`${VOLUMES}/${id}`)).status).toBe(404);
    expect((await service.http.get('/cloud/v1/tasks')).body.results).toEqual([]);
  });

  it('which fields of what exists would differ, and what it would cost more', async () => {
    const id = await makeVolume(5);
    const { body } = await dry('POST', `${VOLUMES}/${id}/extend`, { size: 15 });
    expect(body).toMatchObject({
      tasks: [{ type: 'extend_volume', steps: [{ action: 'change', kind: 'volume', id, fields: ['size'] }] }],
      resource: `${VOLUMES}/${id}`,
      changes: expect.arrayContaining([{ op: 'replace', path: '/status', value: 'extending' }]),
    });
    expect(body.price_per_month_difference).toBeCloseTo((await monthOf(15)) - (await monthOf(5)), 10);
    expect((await service.http.get(`${VOLUMES}/${id}`)).body).toMatchObject({ size: 5, status: 'available' });
  });

  it('what a removal would save', async () => {
    const id = await makeVolume(7);
    const { body } = await dry('DELETE', `${VOLUMES}/${id}`);
    expect(body).toMatchObject({
      tasks: [{ type: 'delete_volume', steps: [{ action: 'remove', kind: 'volume', id }] }],
      price_per_month_difference: -(await monthOf(7)),
    });
    expect((await service.http.get(`${VOLUMES}/${id}`)).body.status).toBe('available');
  });

  it('the new version of what changes without a task', async () => {
    const made = await service.http.post(GROUPS, { security_group: { name: 'before' } });
    const path = `${GROUPS}/${made.body.id}`;
    const { body } = await dry('PATCH', path, { name: 'after' });
    expect(body).toMatchObject({ ...NOTHING, resource: path, changes: expect.any(Array) });
    expect(body.changes).toContainEqual({ op: 'replace', path: '/name', value: 'after' });
    expect((await service.http.get(path)).body.name).toBe('before');
  });

  it('that it is removed', async () => {
    const made = await service.http.post(GROUPS, { security_group: { name: 'kept' } });
    const path = `${GROUPS}/${made.body.id}`;
    const { status, body } = await dry('DELETE', path);
    expect([status, body.changes]).toEqual([200, [{ op: 'remove', path: '' }]]);
    expect((await service.http.get(path)).status).toBe(200);
  });

  it('that nothing would change', async () => {
    const made = await service.http.post(GROUPS, { security_group: { name: 'same' } });
    const { body } = await dry('PATCH', `${GROUPS}/${made.body.id}`, { name: 'same' });
    expect(body).toMatchObject(NOTHING);
  });
});

describe('shows a resource by the names of the API', () => {
  const added = (value: object) => [{ op: 'add', path: '', value: expect.objectContaining(value) }];

  it('an account that would be made', async () => {
    const { status, body } = await dry('POST', '/iam/clients/create', { company: 'Trial' });
    expect([status, body]).toMatchObject([
      200,
      {
        resource: expect.stringMatching(/^\/iam\/clients\/\d+$/),
        changes: added({ companyName: 'Trial', status: 'active' }),
      },
    ]);
    expect((await service.http.get(body.resource)).status).toBe(404);
  });

  it('an account that would be changed', async () => {
    const made = await service.http.post('/iam/clients/create', { company: 'Before' });
    const path = `/iam/clients/${made.body.id}`;
    const { body } = await dry('PATCH', path, { companyName: 'After', phone: '+352 1' });
    expect(body.resource).toBe(path);
    expect(body.changes).toContainEqual({ op: 'replace', path: '/companyName', value: 'After' });
    expect(body.changes).toContainEqual({ op: 'replace', path: '/phone', value: '+352 1' });
    expect((await service.http.get(path)).body.companyName).toBe('Before');
  });

  it('an account that would be suspended', async () => {
    const made = await service.http.post('/iam/clients/create', { company: 'Open' });
    const { body } = await dry('POST', `/tradewind/v1/clients/${made.body.id}/suspend`);
    expect(body.resource).toBe(`/iam/clients/${made.body.id}`);
    expect(body.changes).toContainEqual({ op: 'replace', path: '/status', value: 'paused' });
  });

  it('tags as a part of what they belong to', async () => {
    const path = `${VOLUMES}/${await makeVolume(3)}`;
    const added = await dry('POST', `${path}/metadata`, { env: 'test' });
    expect([added.body.resource, added.body.changes]).toEqual([
      path,
      expect.arrayContaining([expect.objectContaining({ op: 'add', path: expect.stringMatching(/^\/tags\//) })]),
    ]);
    expect((await service.http.post(`${path}/metadata`, { env: 'test' })).status).toBe(204);
    const removed = await dry('DELETE', `${path}/metadata_item?key=env`);
    expect([removed.body.resource, removed.body.changes]).toEqual([
      path,
      expect.arrayContaining([expect.objectContaining({ op: 'remove' })]),
    ]);
  });

  it('a security group that a task would make', async () => {
    const { body } = await dry('POST', '/cloud/v2/security_groups/1/1', { name: 'by-task' });
    expect(body).toMatchObject({
      resource: expect.stringMatching(/^\/cloud\/v1\/securitygroups\/1\/1\//),
      changes: added({ name: 'by-task' }),
    });
  });

  it('what has another address at /gcore as well', async () => {
    const group = await dry('POST', '/gcore/cloud/v2/security_groups/1/1', { name: 'by-task' });
    expect(group.body).toMatchObject({
      resource: expect.stringMatching(/^\/gcore\/cloud\/v1\/securitygroups\/1\/1\//),
      changes: added({ name: 'by-task' }),
    });
    const made = await service.http.post('/iam/clients/create', { company: 'Open too' });
    const account = await dry('POST', `/gcore/tradewind/v1/clients/${made.body.id}/suspend`);
    expect(account.body.resource).toBe(`/gcore/iam/clients/${made.body.id}`);
  });

  it('a cluster and a pool that would be made, by their names', async () => {
    await service.http.post('/cloud/v1/ssh_keys/1', { name: 'laptop' });
    const pool = {
      name: 'first',
      flavor_id: 'g1-standard-2-4',
      min_node_count: 1,
      boot_volume_size: 50,
      boot_volume_type: 'standard',
      servergroup_policy: 'affinity',
    };
    const cluster = { name: 'tried', version: 'v1.32.13', keypair: 'laptop', pools: [pool] };
    const clusters = '/cloud/v2/k8s/clusters/1/1';
    const { body } = await dry('POST', clusters, cluster);
    expect(body).toMatchObject({ resource: `${clusters}/tried`, changes: added({ name: 'tried' }) });
    const [task] = (await service.http.post(clusters, cluster)).body;
    await service.http.task(task);
    const second = await dry('POST', `${clusters}/tried/pools`, { ...pool, name: 'second' });
    expect(second.body).toMatchObject({
      resource: `${clusters}/tried/pools/second`,
      changes: added({ name: 'second' }),
    });
  });

  it('what is below an address with a condition', async () => {
    const networks = await service.http.get('/cloud/v1/networks/1/2?name=default');
    const share = {
      name: 'shared',
      protocol: 'NFS',
      size: 1,
      network: { network_id: networks.body.results[0].id },
    };
    const [task] = (await service.http.post('/cloud/v1/file_shares/1/2', share)).body;
    const [id] = (await service.http.task(task)).created_resources.file_shares;
    const path = `/cloud/v1/file_shares/1/2/${id}`;
    const { body } = await dry('POST', `${path}/extend`, { size: 5 });
    expect([body.resource, body.tasks[0].steps[0].fields]).toEqual([path, ['size']]);
    expect(body.changes.length).toBeGreaterThan(0);
  });

  it('an AI task that would be made, and one that would be cancelled', async () => {
    const task = { task_name: 'transcription', url: 'https://media.example.com/a.mp4' };
    const { body } = await dry('POST', '/streaming/ai/tasks', task);
    expect(body).toMatchObject({
      resource: expect.stringMatching(/^\/streaming\/ai\/tasks\/[\da-f-]{36}$/),
      changes: added({ status: 'PENDING' }),
    });
    expect((await service.http.get(body.resource)).status).toBe(404);
    const made = await service.http.post('/streaming/ai/tasks', task);
    const path = `/streaming/ai/tasks/${made.body.task_id}`;
    const cancelled = await dry('POST', `${path}/cancel`);
    expect(cancelled.body.resource).toBe(path);
    expect(cancelled.body.changes).toContainEqual({ op: 'replace', path: '/status', value: 'REVOKED' });
  });

  it('a user of an account, and a token without its secret', async () => {
    const token = { name: 'tried', exp_date: null, client_user: { role: { name: 'Users' } } };
    const { body } = await dry('POST', '/iam/v2/clients/1/tokens', token);
    expect(body).toMatchObject({ changes: added({ name: 'tried' }) });
    expect(body.resource).toMatch(/^\/iam\/(v2\/)?clients\/1\/tokens\/\d+$/);
    expect(Object.keys(body.changes[0].value)).not.toContain('token');
  });
});

it('exchanges many rules of a group, one change for each', async () => {
  const rule = (port: number) => ({
    direction: 'ingress',
    protocol: 'tcp',
    port_range_min: port,
    port_range_max: port,
  });
  const rules = Array.from({ length: 240 }, (_, n) => rule(n + 1));
  const made = await service.http.post(GROUPS, {
    security_group: { name: 'many', security_group_rules: rules },
  });
  const removed = made.body.security_group_rules
    .filter(({ direction }: { direction: string }) => direction === 'ingress')
    .map(({ id }: { id: string }) => ({ action: 'delete', security_group_rule_id: id }));
  const changed_rules = [...removed, ...rules.map((_, n) => ({ action: 'create', ...rule(n + 1_001) }))];
  const { status, body } = await dry('PATCH', `${GROUPS}/${made.body.id}`, { changed_rules });
  expect([status, removed.length]).toEqual([200, 240]);
  const ofRules = body.changes.filter(({ path }: { path: string }) => path.startsWith('/security_group_rules'));
  expect(ofRules.filter(({ op }: { op: string }) => op === 'remove')).toHaveLength(240);
  expect(ofRules.filter(({ op }: { op: string }) => op === 'add')).toHaveLength(240);
});

describe('refuses like the change itself', () => {
  it.each([
    ['an invalid body', 'POST', VOLUMES, { source: 'new-volume', name: 'data', size: 0 }],
    ['what is not there', 'DELETE', `${VOLUMES}/3f8a2c1e-0000-4000-8000-000000000000`, undefined],
  ])('%s', async (_, method, path, body) => {
    const tried = await dry(method, path, body);
    const real = await service.http.request(method, path, { body });
    expect(tried.status).toBeGreaterThanOrEqual(400);
    const { request_id: _tried, ...refusal } = tried.body;
    expect([real.status, real.body]).toMatchObject([tried.status, refusal]);
  });

  it('a former version', async () => {
    const made = await service.http.post(GROUPS, { security_group: { name: 'versioned' } });
    const headers = { 'if-match': '"99"' };
    expect((await dry('PATCH', `${GROUPS}/${made.body.id}`, { name: 'later' }, { headers })).status).toBe(412);
  });

  it('a caller without a token, without the right, and of another account', async () => {
    const body = { security_group: { name: 'foreign' } };
    const { http: stranger } = await service.otherTenant();
    const reader = await service.withRole('Purge and Prefetch only (API)');
    const statuses = [service.anonymous, reader, stranger].map(
      async (http) => (await dry('POST', GROUPS, body, { http })).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 403, 404]);
  });
});

it('leaves its Idempotency-Key to the change itself', async () => {
  const headers = { 'idempotency-key': 'dry-and-real' };
  const body = { security_group: { name: 'keyed' } };
  expect((await dry('POST', GROUPS, body, { headers })).body.changes).toHaveLength(1);
  const real = await service.http.request('POST', GROUPS, { body, headers });
  expect([real.status, real.headers.get('idempotency-replayed')]).toEqual([200, null]);
  // What has been done already would be done no second time.
  expect((await dry('POST', GROUPS, body, { headers })).body).toMatchObject(NOTHING);
});

it('is no request that is logged, refused or not', async () => {
  const { http } = await service.otherTenant();
  await dry('POST', VOLUMES, { size: 0 }, { http });
  await http.post(VOLUMES, { size: 0 });
  // They are noted in the order in which they come.
  const noted = async () => (await http.get('/cloud/v1/request_log')).body.results;
  const refused = { operation: 'createVolume', outcome: 'refused' };
  await expect.poll(noted).toContainEqual(expect.objectContaining(refused));
  expect((await noted()).filter((one: object) => 'outcome' in one && one.outcome === 'refused')).toHaveLength(1);
});

it('says so where it cannot be tried out, or is asked in another way', async () => {
  const asked = { 'tradewind-dry-run': 'yes' };
  const unclear = await service.http.request('POST', GROUPS, { body: {}, headers: asked });
  expect([unclear.status, unclear.body.invalid_fields]).toEqual([
    400,
    { 'Tradewind-Dry-Run': ['Must be true or false.'] },
  ]);
  const login = await dry('POST', '/iam/auth/jwt/login', { username: 'a@example.com', password: 'x' });
  expect([login.status, login.text]).toEqual([400, expect.stringContaining('leave it out')]);
});

it('keeps nobody waiting, however many there are at once', async () => {
  const before = await service.http.get(GROUPS);
  const tried = Array.from({ length: 40 }, (_, index) =>
    dry('POST', GROUPS, { security_group: { name: `at-once-${index}` } }),
  );
  expect(new Set((await Promise.all(tried)).map(({ status }) => status))).toEqual(new Set([200]));
  expect((await service.http.get(GROUPS)).body.count).toBe(before.body.count);
});

it('holds nothing for a client that has gone', async () => {
  const made = await service.http.post(GROUPS, { security_group: { name: 'left-alone' } });
  const path = `${GROUPS}/${made.body.id}`;
  for (const ms of [1, 2, 3, 5, 8, 13]) {
    const gone = fetch(service.url + path, {
      method: 'PATCH',
      headers: {
        ...DRY_RUN,
        authorization: `apikey ${service.http.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'never' }),
      signal: AbortSignal.timeout(ms),
    });
    await gone.catch(() => {});
  }
  expect((await service.http.patch(path, { name: 'changed' })).status).toBe(200);
});
