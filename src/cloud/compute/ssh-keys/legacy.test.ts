import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const KEYS = '/cloud/v1/ssh_keys/1';
const PAIRS = '/gcore/cloud/v2/keypairs';
const OF_PROJECT = '/gcore/cloud/v1/keypairs/1/1';
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5e+e3KC5+ACc/36XdULnkLWcl9rjsgR3y7CgmNM/8X me@ed25519';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const uniqueName = () => `pair ${randomUUID().slice(0, 8)}`;

describe.each([
  [PAIRS, { project_id: 1 }, '?project_id=1'],
  [OF_PROJECT, {}, ''],
])('key pairs at %s', (base, project, query) => {
  const create = (more: object = {}) => service.http.post(base, { sshkey_name: uniqueName(), ...project, ...more });

  test('are SSH keys by other names', async () => {
    const sshkey_name = uniqueName();
    const made = await create({ sshkey_name, public_key: PUBLIC_KEY });
    expect(made.status, made.text).toBe(200);
    const { body: pair } = made;
    expect(pair).toEqual({
      sshkey_id: expect.any(String),
      sshkey_name,
      public_key: PUBLIC_KEY,
      private_key: null,
      fingerprint: 'SHA256:XKhvSgFBeeyT1e80qY09a4P03t8zN46p3DZYGULwp8U',
      project_id: 1,
      shared_in_project: true,
      state: 'ACTIVE',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    const one = await service.http.get(`${base}/${pair.sshkey_id}`);
    expect([one.status, one.body]).toEqual([200, pair]);
    expect((await service.http.get(`${KEYS}/${pair.sshkey_id}`)).body).toMatchObject({
      id: pair.sshkey_id,
      name: sshkey_name,
    });
    const { body: list } = await service.http.get(base + query);
    expect(list.count).toBe(list.results.length);
    expect(list.results[0]).toEqual(pair);
    const gone = await service.http.delete(`${base}/${pair.sshkey_id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await service.http.get(`${base}/${pair.sshkey_id}`)).status).toBe(404);
    expect((await service.http.delete(`${base}/${pair.sshkey_id}`)).status).toBe(404);
    expect((await service.http.get(`${KEYS}/${pair.sshkey_id}`)).status).toBe(404);
  });

  test('are made where no public half is given, and shown whole once', async () => {
    const { body: made } = await create({ public_key: null, shared_in_project: null });
    expect(made.private_key).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
    expect(made.shared_in_project).toBe(true);
    const { body: again } = await service.http.get(`${base}/${made.sshkey_id}`);
    expect(again).toEqual({ ...made, private_key: null });
  });

  test('are refused by the names that they have', async () => {
    const { body: taken } = await create();
    const again = await create({ sshkey_name: taken.sshkey_name });
    expect(again.status).toBe(409);
    expect(again.body.message).toContain(taken.sshkey_name);
    for (const [body, field] of [
      [{ sshkey_name: 'a' }, 'sshkey_name'],
      [{ public_key: 'ssh-ed25519 AAAA' }, 'public_key'],
    ] as const) {
      const refused = await create(body);
      expect(refused.status).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    }
    expect((await create({ name: 'laptop' })).headers.get('tradewind-ignored')).toBe('name');
    expect((await service.http.get(`${base}/${taken.sshkey_name}`)).status).toBe(404);
  });

  test("are nobody else's, and look to others as if they were not there", async () => {
    const { body: mine } = await create();
    const { http: other } = await service.otherTenant();
    const user = await service.withRole('Users');
    const one = `${base}/${mine.sshkey_id}`;
    const unknown = `${base}/${randomUUID()}`;
    const body = { sshkey_name: uniqueName(), ...project };
    for (const [method, path, more] of [
      ['POST', base, { body }],
      ['GET', base + query, {}],
      ['GET', one, {}],
      ['DELETE', one, {}],
    ] as const) {
      const what = `${method} ${path}`;
      expect((await service.anonymous.request(method, path, more)).status, what).toBe(401);
      expect((await other.request(method, path, more)).status, what).toBe(404);
      expect((await user.request(method, path, more)).status, what).toBe(method === 'GET' ? 200 : 403);
    }
    const texts = [];
    for (const path of [one, unknown]) {
      const { body: refusal } = await other.get(path);
      texts.push(refusal.message.replace(/[0-9a-f-]{36}/, 'ID'));
    }
    expect(new Set(texts).size).toBe(1);
    await service.pool.query(
      `with other as (insert into users (client_id, email, platform_administrator, created_at)
       values (1, $1, false, now()) returning id)
       update ssh_keys set shared_in_project = false, user_id = (select id from other) where id = $2`,
      [`${randomUUID()}@example.com`, mine.sshkey_id],
    );
    expect((await service.http.get(one)).status).toBe(404);
    expect((await service.http.delete(one)).status).toBe(404);
    const { body: list } = await service.http.get(base + query);
    const ids = list.results.map((pair: { sshkey_id: string }) => pair.sshkey_id);
    expect(ids).not.toContain(mine.sshkey_id);
  });
});

test('the list over projects wants one of them, and can be that of one user', async () => {
  const refused = await service.http.get(PAIRS);
  expect(refused.status).toBe(400);
  expect(Object.keys(refused.body.invalid_fields)).toEqual(['project_id']);
  const { body: made } = await service.http.post(PAIRS, { sshkey_name: uniqueName(), project_id: 1 });
  const { rows } = await service.pool.query('select user_id from ssh_keys where id = $1', [made.sshkey_id]);
  const of = async (user: number) =>
    (await service.http.get(`${PAIRS}?project_id=1&user_id=${user}`)).body.results.length;
  expect(await of(Number(rows[0].user_id))).toBeGreaterThan(0);
  expect(await of(999_999)).toBe(0);
  expect((await service.http.get(`${PAIRS}?project_id=999999`)).status).toBe(404);
});

test('a key pair can be shared, and stops being so', async () => {
  const { body: pair } = await service.http.post(OF_PROJECT, { sshkey_name: uniqueName() });
  const path = `${OF_PROJECT}/${pair.sshkey_id}/share`;
  const answer = await service.http.patch(path, { shared_in_project: false });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toEqual({ ...pair, private_key: null, shared_in_project: false });
  expect((await service.http.patch(path, {})).status).toBe(400);
  const { http: other } = await service.otherTenant();
  expect((await other.patch(path, { shared_in_project: true })).status).toBe(404);
  expect((await service.anonymous.patch(path, { shared_in_project: true })).status).toBe(401);
});

test('the specification has no key pairs', async () => {
  for (const path of [PAIRS, OF_PROJECT]) {
    expect((await service.http.get(path.replace('/gcore', ''))).status).toBe(404);
  }
});
