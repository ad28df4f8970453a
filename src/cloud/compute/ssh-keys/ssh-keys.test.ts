import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/cloud/v1/ssh_keys/1';
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5e+e3KC5+ACc/36XdULnkLWcl9rjsgR3y7CgmNM/8X me@ed25519';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const uniqueName = () => `key ${randomUUID().slice(0, 8)}`;

async function created(body: object = {}, http: HttpClient = service.http) {
  const answer = await http.post(BASE, { name: uniqueName(), ...body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

describe('creating', () => {
  test('keeps the key that is given, with its fingerprint', async () => {
    const name = uniqueName();
    const { private_key: privateKey, ...key } = await created({ name, public_key: `${PUBLIC_KEY}\n` });
    expect(privateKey).toBeNull();
    expect(key).toEqual({
      id: expect.any(String),
      name,
      public_key: PUBLIC_KEY,
      fingerprint: 'SHA256:XKhvSgFBeeyT1e80qY09a4P03t8zN46p3DZYGULwp8U',
      project_id: 1,
      shared_in_project: true,
      state: 'ACTIVE',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect((await service.http.get(`${BASE}/${key.id}`)).body).toEqual(key);
  });

  test.each([{}, { public_key: null }])('makes a pair for %j and shows its private half once', async (body) => {
    const { private_key: privateKey, ...key } = await created(body);
    expect(privateKey).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
    expect(key.public_key).toBe(`ssh-ed25519 ${key.public_key.split(' ')[1]} ${key.name}`);
    expect((await service.http.get(`${BASE}/${key.id}`)).body).toEqual(key);
    const { rows } = await service.pool.query('select * from ssh_keys where id = $1', [key.id]);
    expect(JSON.stringify(rows)).not.toContain('PRIVATE');
  });

  test.each<[body: object, field: string]>([
    [{ name: undefined }, 'name'],
    [{ name: 'a' }, 'name'],
    [{ public_key: 'ssh-ed25519 AAAA' }, 'public_key'],
    [{ public_key: '' }, 'public_key'],
    [{ public_key: 5 }, 'public_key'],
    [{ public_key: 'x'.repeat(16_385) }, 'public_key'],
    [{ shared_in_project: 'yes' }, 'shared_in_project'],
    [{ colour: 'red' }, 'colour'],
  ])('refuses %j', async (body, field) => {
    const { status, body: answer } = await service.http.post(BASE, { name: uniqueName(), ...body });
    expect(status).toBe(400);
    expect(Object.keys(answer.invalid_fields)).toEqual([field]);
  });

  test('refuses a name that the project has, and takes it in another project', async () => {
    const { name } = await created();
    const again = await service.http.post(BASE, { name });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ exception_class: 'ConflictError' });
    expect(again.body.message).toContain(name);
    const { http, projectId } = await service.otherTenant();
    expect((await http.post(`/cloud/v1/ssh_keys/${projectId}`, { name })).status).toBe(201);
  });
});

test('lists by part of the name, in every order, by page', async () => {
  const mark = randomUUID().slice(0, 6);
  const names = ['b_', 'aX', 'c_'].map((start) => `${start}${mark}`);
  for (const name of names) await created({ name });
  const [b, a, c] = names;
  const list = async (query: string) => {
    const { body } = await service.http.get(`${BASE}?name=${mark}&${query}`);
    return body.results.map((key: { name: string }) => key.name);
  };
  expect(await list('')).toEqual([c, a, b]);
  expect(await list('order_by=created_at.asc')).toEqual([b, a, c]);
  expect(await list('order_by=name.asc')).toEqual([a, b, c]);
  expect(await list('order_by=name.desc&limit=1&offset=1')).toEqual([b]);
  // `_` is not a wildcard.
  expect((await service.http.get(`${BASE}?name=_${mark}`)).body.count).toBe(2);
  expect((await service.http.get(`${BASE}?name=${mark}&limit=1`)).body.count).toBe(3);
  for (const query of ['limit=0', 'limit=1001', 'order_by=id', 'colour=red']) {
    expect((await service.http.get(`${BASE}?${query}`)).status, query).toBe(400);
  }
});

test('ten keys are a page when no limit is given', async () => {
  const mark = randomUUID().slice(0, 6);
  for (let index = 0; index < 11; index++) await created({ name: `page ${mark} ${index}` });
  const { body } = await service.http.get(`${BASE}?name=${mark}`);
  expect([body.count, body.results.length]).toEqual([11, 10]);
});

describe('sharing', () => {
  test('a key that is not shared is there only for the user who added it', async () => {
    const engineer = await service.withRole('Engineers');
    const mine = await created({ shared_in_project: false });
    const { rows } = await service.pool.query(
      `insert into users (client_id, email, platform_administrator, created_at)
       values (1, $1, false, now()) returning id`,
      [`${randomUUID()}@example.com`],
    );
    await service.pool.query('update ssh_keys set user_id = $1 where id = $2', [rows[0].id, mine.id]);
    for (const http of [service.http, engineer]) {
      expect((await http.get(`${BASE}/${mine.id}`)).status).toBe(404);
      expect((await http.patch(`${BASE}/${mine.id}`, { shared_in_project: true })).status).toBe(404);
      expect((await http.delete(`${BASE}/${mine.id}`)).status).toBe(404);
      expect((await http.get(`${BASE}?name=${encodeURIComponent(mine.name)}`)).body.count).toBe(0);
    }
    await service.pool.query('update ssh_keys set shared_in_project = true where id = $1', [mine.id]);
    expect((await engineer.get(`${BASE}/${mine.id}`)).status).toBe(200);
  });

  test('that ends while somebody else switches it on stays ended', async () => {
    const key = await created();
    const { rows } = await service.pool.query(
      `insert into users (client_id, email, platform_administrator, created_at)
       values (1, $1, false, now()) returning id`,
      [`${randomUUID()}@example.com`],
    );
    await service.pool.query('update ssh_keys set user_id = $1 where id = $2', [rows[0].id, key.id]);
    const owner = await service.pool.connect();
    await owner.query('begin');
    await owner.query('update ssh_keys set shared_in_project = false where id = $1', [key.id]);
    const answering = service.http.patch(`${BASE}/${key.id}`, { shared_in_project: true });
    await expect
      .poll(async () => {
        const { rowCount } = await service.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount;
      })
      .toBe(1);
    await owner.query('commit');
    owner.release();
    expect((await answering).status).toBe(404);
  });

  test('can be switched', async () => {
    const { private_key: _, ...key } = await created();
    const url = `${BASE}/${key.id}`;
    const changed = await service.http.patch(url, { shared_in_project: false });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...key, shared_in_project: false });
    expect((await service.http.get(url)).body).toEqual(changed.body);
    for (const body of [{}, { shared_in_project: null }, { shared_in_project: true, name: 'other' }]) {
      expect((await service.http.patch(url, body)).status, JSON.stringify(body)).toBe(400);
    }
  });
});

test('deletes', async () => {
  const { id } = await created();
  const gone = await service.http.delete(`${BASE}/${id}`);
  expect([gone.status, gone.text]).toEqual([204, '']);
  expect((await service.http.get(`${BASE}/${id}`)).status).toBe(404);
  expect((await service.http.delete(`${BASE}/${id}`)).status).toBe(404);
});

test('refuses everyone else', async () => {
  const { id } = await created();
  const { http } = await service.otherTenant();
  const user = await service.withRole('Users');
  const calls: [method: string, path: string, body?: object][] = [
    ['POST', BASE, { name: 'abc' }],
    ['GET', BASE],
    ['GET', `${BASE}/${id}`],
    ['PATCH', `${BASE}/${id}`, { shared_in_project: false }],
    ['DELETE', `${BASE}/${id}`],
  ];
  for (const [method, path, body] of calls) {
    const what = `${method} ${path}`;
    expect((await service.anonymous.request(method, path, { body })).status, what).toBe(401);
    expect((await http.request(method, path, { body })).status, what).toBe(404);
    if (method !== 'GET') expect((await user.request(method, path, { body })).status, what).toBe(403);
  }
  expect((await service.http.get(`${BASE}/no-uuid`)).status).toBe(404);
});
