import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { borrowService, type Tenant, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let tenant: Tenant;
let reseller: TestReseller;
const BASE = '/iam/reselling/resellers/1/notification_settings';
const valid = { notification_type: 'failed_login', email: 'security@example.com' };

beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
  reseller = await addReseller(service, 'Northwind');
});
afterAll(() => service?.stop());

async function made(body: object = valid) {
  const answer = await service.http.post(BASE, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body as { id: number; enabled: boolean };
}

describe('one setting', () => {
  it('is made, read, changed and deleted', async () => {
    const created = await made();
    expect(created).toEqual({ id: expect.any(Number), reseller: 1, ...valid, enabled: true });
    const path = `${BASE}/${created.id}`;
    expect((await service.http.get(path)).body).toEqual(created);
    const change = { notification_type: 'deletion_request', email: 'ops@example.org', enabled: false };
    const patched = await service.http.patch(path, change);
    expect(patched.status).toBe(200);
    expect(patched.body).toEqual({ id: created.id, reseller: 1, ...change });
    expect((await service.http.get(`/gcore${path}`)).body).toEqual(patched.body);
    expect((await service.http.delete(path)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      expect((await service.http.request(method, path)).status).toBe(404);
    }
    expect((await service.http.put(path, valid)).status).toBe(404);
    expect((await service.http.patch(path, valid)).status).toBe(404);
  });

  it('keeps `enabled` on PATCH and resets it on PUT when it is left out', async () => {
    const { id } = await made({ ...valid, enabled: false });
    expect((await service.http.patch(`${BASE}/${id}`, valid)).body.enabled).toBe(false);
    expect((await service.http.put(`${BASE}/${id}`, valid)).body.enabled).toBe(true);
    expect((await service.http.get(`${BASE}/${id}`)).body.enabled).toBe(true);
  });

  it('may be there twice', async () => {
    expect((await made()).id).not.toBe((await made()).id);
  });
});

describe.each(['POST', 'PUT', 'PATCH'])('%s refuses', (method) => {
  const part = (length: number) => 'a'.repeat(length);
  it.each([
    ['no fields', {}, { notification_type: /required/, email: /required/ }],
    ['a type alone', { notification_type: 'failed_login' }, { email: /required/ }],
    [
      'an unknown type and a bad address',
      { notification_type: 'login', email: 'nobody' },
      { notification_type: /failed_login/, email: /valid email/ },
    ],
    ['an address without a top-level domain', { ...valid, email: 'root@localhost' }, { email: /valid email/ }],
    ['a local part of 65 characters', { ...valid, email: `${part(65)}@example.com` }, { email: /valid email/ }],
    ['an address with a line break', { ...valid, email: 'a@example.com\nb' }, { email: /valid email/ }],
    [
      '255 characters',
      { ...valid, email: `a@${part(60)}.${part(60)}.${part(60)}.${part(60)}.${part(5)}.com` },
      { email: /at most 254/ },
    ],
    ['wrong kinds', { ...valid, email: 1, enabled: 'yes' }, { email: /string/, enabled: /boolean/ }],
    ['null', { ...valid, enabled: null }, { enabled: /boolean/ }],
    ['an unknown field', { ...valid, reseller: 1 }, { reseller: /Unknown/ }],
    ['NUL', { ...valid, email: 'a\0@example.com' }, { email: /NUL/ }],
    ['a body that is no object', [valid], { body: /object/ }],
  ])('%s', async (_what, body, texts) => {
    const path = method === 'POST' ? BASE : `${BASE}/${(await made()).id}`;
    const answer = await service.http.request(method, path, { body });
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.errors).sort()).toEqual(Object.keys(texts).sort());
    for (const [field, text] of Object.entries(texts)) expect(answer.body.errors[field][0]).toMatch(text);
  });

  it('no body at all', async () => {
    const path = method === 'POST' ? BASE : `${BASE}/${(await made()).id}`;
    expect((await service.http.request(method, path)).status).toBe(400);
  });
});

describe('an address of 254 characters', () => {
  it('is taken', async () => {
    const part = (length: number) => 'a'.repeat(length);
    const email = `a@${part(60)}.${part(60)}.${part(60)}.${part(60)}.${part(4)}.com`;
    expect(email).toHaveLength(254);
    expect((await service.http.post(BASE, { ...valid, email })).status).toBe(201);
  });
});

describe('the list', () => {
  it('is paged with relative addresses and ordered by any field', async () => {
    const base = `/iam/reselling/resellers/${reseller.resellerId}/notification_settings`;
    for (const letter of ['b', 'c', 'a']) {
      const body = { ...valid, email: `${letter}@example.com`, enabled: letter !== 'c' };
      expect((await reseller.http.post(base, body)).status).toBe(201);
    }
    const list = async (query: string) => (await reseller.http.get(base + query)).body;
    const letters = async (query: string) =>
      (await list(query)).results.map(({ email }: { email: string }) => email[0]).join('');
    expect(await list('')).toMatchObject({ count: 3, next: null, previous: null });
    expect(await letters('')).toBe('bca');
    expect(await letters('?ordering=email')).toBe('abc');
    expect(await letters('?ordering=-email')).toBe('cba');
    expect(await letters('?ordering=enabled')).toBe('cba');
    expect(await letters('?ordering=-id')).toBe('acb');
    const middle = await list('?limit=1&offset=1&ordering=email');
    expect(middle).toMatchObject({
      count: 3,
      next: `${base}?offset=2&limit=1&ordering=email`,
      previous: `${base}?offset=0&limit=1&ordering=email`,
    });
    expect((await reseller.http.get(middle.next)).body.results[0].email).toBe('c@example.com');
    expect(await list('?offset=10')).toMatchObject({ count: 3, next: null, results: [] });
    for (const query of ['?ordering=name', '?limit=0', '?limit=x', '?offset=-1', '?page=1']) {
      expect((await reseller.http.get(base + query)).status, query).toBe(400);
    }
  });
});

describe('whose settings', () => {
  const calls = (resellerId: number | string, id: number | string) => {
    const base = `/iam/reselling/resellers/${resellerId}/notification_settings`;
    return [
      ['GET', base],
      ['POST', base],
      ['GET', `${base}/${id}`],
      ['PUT', `${base}/${id}`],
      ['PATCH', `${base}/${id}`],
      ['DELETE', `${base}/${id}`],
    ] as const;
  };

  it("another reseller's id is 403, whether it exists or not, before the body is read", async () => {
    const { id } = await made();
    for (const resellerId of [1, 999_999]) {
      for (const [method, path] of calls(resellerId, id)) {
        const raw = method.startsWith('P') ? { raw: '{' } : {};
        const answer = await reseller.http.request(method, path, raw);
        expect(answer.status, `${method} ${path}`).toBe(403);
        expect(answer.body).toEqual({ message: expect.any(String) });
      }
    }
    for (const [method, path] of calls(999_999, id)) {
      expect((await service.http.request(method, path)).status, `${method} ${path}`).toBe(403);
    }
  });

  it('the platform administrator may use every reseller there is', async () => {
    const base = `/iam/reselling/resellers/${reseller.resellerId}/notification_settings`;
    const created = await service.http.post(base, valid);
    expect(created.body.reseller).toBe(reseller.resellerId);
    expect((await reseller.http.get(`${base}/${created.body.id}`)).status).toBe(200);
    expect((await service.http.get(`${BASE}/${created.body.id}`)).status).toBe(404);
  });

  it("a client's token is 403 and no token 401", async () => {
    const { id } = await made();
    for (const [method, path] of calls(1, id)) {
      expect((await tenant.http.request(method, path)).status, `${method} ${path}`).toBe(403);
      expect((await service.anonymous.request(method, path)).status).toBe(401);
    }
    expect((await service.http.get(`${BASE}/${id}`)).status).toBe(200);
  });

  it('malformed ids are 400 or 404', async () => {
    for (const bad of ['abc', '1.5', '-1', '99999999999999999999', '%20']) {
      for (const [method, path] of [...calls(1, bad).slice(2), ...calls(bad, 1)]) {
        const answer = await service.http.request(method, path, method.startsWith('P') ? { body: valid } : {});
        expect([400, 403, 404], `${method} ${path}`).toContain(answer.status);
      }
    }
  });
});
