import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type Tenant, type TestService } from '../../../../test/support/service.ts';

/** Region 3 has no logging. */
const at = (project: number, region = 1) => `/cloud/v1/laas/${project}/${region}`;

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

async function project(): Promise<number> {
  const made = await tenant.http.post('/cloud/v1/projects', { name: `logs ${randomUUID().slice(0, 8)}` });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
async function initialised(namespace: string | null = null): Promise<number> {
  const id = await project();
  const answer = await tenant.http.patch(`${at(id)}/status`, { is_initialized: true, namespace });
  expect(answer.status, answer.text).toBe(200);
  return id;
}
const conflict = (word: string) => ({ code: 409, message: expect.stringContaining(word) });

describe('the status', () => {
  it('begins with a namespace of its own or a chosen one, which stays, and ends', async () => {
    const id = await project();
    const url = `${at(id)}/status`;
    const none = { is_initialized: false, namespace: null };
    expect((await tenant.http.get(url)).body).toEqual(none);
    expect((await tenant.http.patch(url, none)).body).toEqual(none);
    const begun = { is_initialized: true, namespace: `p${id}` };
    expect((await tenant.http.patch(url, { is_initialized: true })).body).toEqual(begun);
    expect((await tenant.http.patch(url, { is_initialized: true })).body).toEqual(begun);
    expect((await tenant.http.get(url)).body).toEqual(begun);
    const other = await tenant.http.patch(url, { is_initialized: true, namespace: 'other' });
    expect(other.status).toBe(409);
    expect(other.body).toEqual(conflict(`p${id}`));
    expect((await tenant.http.get(`${at(id, 2)}/status`)).body).toEqual(none);
    expect((await tenant.http.patch(url, { is_initialized: false })).body).toEqual(none);
    const chosen = { is_initialized: true, namespace: 'chosen1' };
    expect((await tenant.http.patch(url, chosen)).body).toEqual(chosen);
  });

  it('gives a namespace of a region to one project', async () => {
    await initialised('acme');
    const second = await project();
    const taken = await tenant.http.patch(`${at(second)}/status`, {
      is_initialized: true,
      namespace: 'acme',
    });
    expect(taken.status).toBe(409);
    expect(taken.body).toEqual(conflict('acme'));
    const elsewhere = { is_initialized: true, namespace: 'acme' };
    expect((await tenant.http.patch(`${at(second, 2)}/status`, elsewhere)).body).toEqual(elsewhere);
    const kept = await tenant.http.patch(`${at(second)}/status`, {
      is_initialized: true,
      namespace: `p${second + 1}`,
    });
    expect(kept.status).toBe(400);
  });

  it.each<[object]>([
    [{}],
    [{ is_initialized: 'yes' }],
    [{ is_initialized: true, namespace: 'a' }],
    [{ is_initialized: true, namespace: 'a'.repeat(33) }],
    [{ is_initialized: true, namespace: 'With-Capitals' }],
    [{ is_initialized: false, namespace: 'acme' }],
    [{ is_initialized: true, colour: 'red' }],
  ])('refuses %j', async (body) => {
    const answer = await tenant.http.patch(`${at(tenant.projectId)}/status`, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ code: 400, message: expect.any(String) });
  });

  it('is one of two when two begin at once', async () => {
    const [one, two] = [await project(), await project()];
    const answers = await Promise.all(
      [one, two].map((id) => tenant.http.patch(`${at(id)}/status`, { is_initialized: true, namespace: 'racing' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });
});

describe('a namespace', () => {
  const available = async (id: number, name: string, region = 1) => {
    const answer = await tenant.http.get(`/cloud/v1/laas/namespaces/${id}/${region}/${name}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.namespace).toBe(name);
    return answer.body.available;
  };

  it('is available until another project of the region has it, whose default never is', async () => {
    const [one, two] = [await project(), await project()];
    expect(await available(one, 'wanted')).toBe(true);
    await tenant.http.patch(`${at(two)}/status`, { is_initialized: true, namespace: 'wanted' });
    expect(await available(one, 'wanted')).toBe(false);
    expect(await available(one, 'wanted', 2)).toBe(true);
    expect(await available(two, 'wanted')).toBe(true);
    expect(await available(one, `p${two}`)).toBe(false);
    expect(await available(one, `p${one}`)).toBe(true);
  });

  it.each(['a', 'With-Capitals', 'a'.repeat(33)])('can not be %s', async (name) => {
    const answer = await tenant.http.get(`/cloud/v1/laas/namespaces/${tenant.projectId}/1/${name}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ code: 400, message: expect.stringContaining('2 to 32 lower-case') });
  });
});

describe('under /gcore, for the older Terraform provider', () => {
  it('the first topic initialises logging, whoever comes first', async () => {
    const id = await project();
    const url = `${at(id)}/topics`;
    const early = await tenant.http.put(url, { name: 'web' });
    expect([early.status, early.body]).toEqual([409, conflict('not initialised')]);
    const answers = await Promise.all(['web', 'web', 'audit'].map((name) => tenant.http.put(`/gcore${url}`, { name })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const begun = { is_initialized: true, namespace: `p${id}` };
    expect((await tenant.http.get(`${at(id)}/status`)).body).toEqual(begun);
    expect((await tenant.http.get(url)).body.count).toBe(2);
    expect((await tenant.http.put(`/gcore${at(id, 3)}/topics`, { name: 'web' })).status).toBe(400);
    const other = await service.otherTenant();
    expect((await other.http.put(`/gcore${url}`, { name: 'web' })).status).toBe(404);
  });

  it('the servers have their older names', async () => {
    const hosts = async (name: string, region = 1, base = '/gcore') =>
      tenant.http.get(`${base}/cloud/v1/laas/${region}/${name}`);
    expect((await hosts('kafka_hosts')).body).toEqual((await hosts('hosts')).body);
    expect((await hosts('opensearch_hosts')).body).toEqual({ hosts: [] });
    for (const name of ['kafka_hosts', 'opensearch_hosts']) {
      expect((await hosts(name, 3)).status).toBe(400);
      expect((await hosts(name, 99)).status).toBe(404);
      expect((await hosts(name, 1, '')).status).toBe(404);
    }
  });
});

describe('topics', () => {
  it('are made, replaced, listed by name and deleted', async () => {
    const id = await initialised();
    const url = `${at(id)}/topics`;
    const put = await tenant.http.put(url, {
      name: 'web.access',
      retention_policy: { period: 45 },
      index_pattern: { id: 'web' },
      size_in_bytes: 7,
    });
    expect(put.status, put.text).toBe(201);
    expect(put.body).toEqual({
      name: 'web.access',
      retention_policy: { period: 45 },
      index_pattern: { id: 'web' },
      size_in_bytes: 7,
    });
    const plain = { name: 'audit', retention_policy: null, index_pattern: null, size_in_bytes: 0 };
    expect((await tenant.http.put(url, { name: 'audit' })).body).toEqual(plain);
    expect((await tenant.http.get(url)).body).toEqual({ count: 2, results: [plain, put.body] });
    expect((await tenant.http.get(`${url}?limit=1&offset=1`)).body).toEqual({
      count: 2,
      results: [put.body],
    });
    const replaced = await tenant.http.put(url, { name: 'web.access' });
    expect(replaced.status).toBe(201);
    expect(replaced.body).toEqual({ ...plain, name: 'web.access' });

    const ending = await tenant.http.patch(`${at(id)}/status`, { is_initialized: false });
    expect(ending.status).toBe(409);
    expect(ending.body).toEqual(conflict('2 topics'));
    expect((await tenant.http.delete(`${url}/web.access`)).status).toBe(204);
    expect((await tenant.http.delete(`${url}/web.access`)).status).toBe(404);
    expect((await tenant.http.delete(`${url}/audit`)).status).toBe(204);
    expect((await tenant.http.get(url)).body).toEqual({ count: 0, results: [] });
    expect((await tenant.http.patch(`${at(id)}/status`, { is_initialized: false })).status).toBe(200);
  });

  it.each<[object]>([
    [{}],
    [{ name: 'With.Capitals' }],
    [{ name: 'a..b' }],
    [{ name: `a.${'b'.repeat(60)}_` }],
    [{ name: 'a'.repeat(224) }],
    [{ name: 'ok', retention_policy: { period: 0 } }],
    [{ name: 'ok', retention_policy: { period: 1826 } }],
    [{ name: 'ok', retention_policy: {} }],
    [{ name: 'ok', index_pattern: {} }],
    [{ name: 'ok', size_in_bytes: -1 }],
  ])('refuses %j', async (body) => {
    expect((await tenant.http.put(`${at(tenant.projectId)}/topics`, body)).status).toBe(400);
  });

  it('and users are refused before logging is initialised', async () => {
    const id = await project();
    for (const answer of [
      await tenant.http.put(`${at(id)}/topics`, { name: 'early' }),
      await tenant.http.post(`${at(id)}/users`),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body).toEqual(conflict('not initialised'));
    }
    expect((await tenant.http.get(`${at(id)}/topics`)).body).toEqual({ count: 0, results: [] });
    expect((await tenant.http.delete(`${at(id)}/topics/early`)).status).toBe(404);
  });

  it('keep a project from being deleted', async () => {
    const id = await initialised();
    const refused = await tenant.http.delete(`/cloud/v1/projects/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('logging');
  });
});

it('a user gets a password once, of which only what brokers check it by is kept', async () => {
  const id = await initialised();
  const first = await tenant.http.post(`${at(id)}/users`);
  expect(first.status, first.text).toBe(200);
  expect(first.body).toEqual({ username: `p${id}`, password: expect.stringMatching(/^[\w-]{43}$/) });
  const credential = async () =>
    (await service.pool.query('select credential from logging_services where project_id = $1', [id])).rows[0]
      .credential;
  const kept = await credential();
  expect(kept).toMatch(/^SCRAM-SHA-512\$4096:[^$]+\$[^:]+:/);
  expect(kept).not.toContain(first.body.password);
  const second = await tenant.http.post(`${at(id)}/users`);
  expect(second.body.password).not.toBe(first.body.password);
  expect(await credential()).not.toBe(kept);
});

describe('the topic of a cluster', () => {
  const CLUSTERS = '/cloud/v2/k8s/clusters/1/1';
  const topics = async () => (await service.http.get(`${at(1, 2)}/topics`)).body.results;
  const patched = async (logging: object) => {
    const { status, body, text } = await service.http.patch(`${CLUSTERS}/logs`, { logging });
    expect(status, text).toBe(200);
    expect(await service.http.task(body[0])).toMatchObject({ state: 'FINISHED', error: null });
  };

  it('is made in the region that keeps the logs, stays there, and can go when no cluster uses it', async () => {
    await service.http.post('/cloud/v1/ssh_keys/1', { name: 'log key' });
    const created = await service.http.post(CLUSTERS, {
      name: 'logs',
      version: 'v1.32.13',
      keypair: 'log key',
      pools: [{ name: 'metal', flavor_id: 'bm1-infra-medium', min_node_count: 1 }],
      logging: { enabled: true, destination_region_id: 2, retention_policy: { period: 30 } },
    });
    expect(created.status, created.text).toBe(200);
    expect(await service.http.task(created.body[0])).toMatchObject({ state: 'FINISHED', error: null });
    const own = { index_pattern: null, size_in_bytes: 0 };
    const first = { ...own, name: 'logs', retention_policy: { period: 30 } };
    expect(await topics()).toEqual([first]);
    expect((await service.http.get(`${at(1, 1)}/topics`)).body.count).toBe(0);
    expect((await service.http.get(`${at(1, 2)}/status`)).body).toEqual({
      is_initialized: true,
      namespace: 'p1',
    });
    const refused = await service.http.delete(`${at(1, 2)}/topics/logs`);
    expect(refused.status).toBe(409);
    expect(refused.body).toEqual(conflict('Cluster logs'));

    await patched({ topic_name: 'logs.two', retention_policy: { period: 60 } });
    expect(await topics()).toEqual([first, { ...own, name: 'logs.two', retention_policy: { period: 60 } }]);
    expect((await service.http.delete(`${at(1, 2)}/topics/logs`)).status).toBe(204);
    expect((await service.http.delete(`${at(1, 2)}/topics/logs.two`)).status).toBe(409);
    await patched({ enabled: false });
    expect(await topics()).toHaveLength(1);
    expect((await service.http.delete(`${at(1, 2)}/topics/logs.two`)).status).toBe(204);
  });

  it('is not made by an update that fails', async () => {
    const { body } = await service.http.patch(`${CLUSTERS}/logs`, {
      logging: { enabled: true, destination_region_id: 2, topic_name: 'simulate-failure' },
    });
    expect(await service.http.task(body[0])).toMatchObject({ state: 'ERROR' });
    expect(await topics()).toEqual([]);
  });
});

it('a region without logging refuses with 400, but says that it is not initialised', async () => {
  const base = at(tenant.projectId, 3);
  for (const answer of [
    await tenant.http.patch(`${base}/status`, { is_initialized: true }),
    await tenant.http.get(`${base}/topics`),
    await tenant.http.put(`${base}/topics`, { name: 'web' }),
    await tenant.http.delete(`${base}/topics/web`),
    await tenant.http.post(`${base}/users`),
    await tenant.http.get('/cloud/v1/laas/3/hosts'),
    await tenant.http.get(`/cloud/v1/laas/namespaces/${tenant.projectId}/3/acme`),
  ]) {
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ code: 400, message: expect.stringContaining("doesn't offer logging") });
  }
  const status = await tenant.http.get(`${base}/status`);
  expect(status.body).toEqual({ is_initialized: false, namespace: null });
  expect((await tenant.http.get('/cloud/v1/laas/1/hosts')).body).toEqual({
    hosts: ['logs.port-halden.example:9093'],
  });
  expect((await tenant.http.get('/cloud/v1/laas/99/hosts')).status).toBe(404);
});

it('refuses everyone else in the form of its area', async () => {
  const calls: [string, string, object?][] = [
    ['GET', `${at(1)}/status`],
    ['PATCH', `${at(1)}/status`, { is_initialized: true }],
    ['GET', `${at(1)}/topics`],
    ['PUT', `${at(1)}/topics`, { name: 'web' }],
    ['DELETE', `${at(1)}/topics/web`],
    ['POST', `${at(1)}/users`],
    ['GET', '/cloud/v1/laas/namespaces/1/1/acme'],
  ];
  const user = await service.withRole('Users');
  for (const [method, path, body] of calls) {
    const what = `${method} ${path}`;
    const foreign = await tenant.http.request(method, path, { body });
    expect([what, foreign.status]).toEqual([what, 404]);
    expect(foreign.body).toEqual({ code: 404, message: 'Project 1 not found' });
    expect((await service.anonymous.request(method, path, { body })).status, what).toBe(401);
    if (method !== 'GET') expect((await user.request(method, path, { body })).status, what).toBe(403);
  }
});
