import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { addReseller, asResellerOf } from '../../../test/support/reseller.ts';
import { borrowService, type Tenant, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let tenant: Tenant;
const PATH = '/iam/v2/clients';

beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
});
afterAll(() => service?.stop());

const body = (role: object, more: object = {}) => ({
  name: 'Deployments',
  exp_date: null,
  client_user: { role },
  ...more,
});

async function made(http: HttpClient, clientId: number, role: object, more: object = {}) {
  const answer = await http.post(`${PATH}/${clientId}/tokens`, body(role, more));
  expect(answer.status, answer.text).toBe(200);
  return { ...answer.body, http: createHttpClient(service.url, answer.body.token) } as {
    id: number;
    token: string;
    http: HttpClient;
    client_user: { user_id: number };
  };
}

describe('making a token', () => {
  it('answers all fields and shows the secret this once', async () => {
    const answer = await tenant.http.post(
      `${PATH}/${tenant.clientId}/tokens`,
      body({ id: 5, name: 'Engineers' }, { description: 'CI', exp_date: '2099-01-01 12:00:00+02:00' }),
    );
    expect(answer.status).toBe(200);
    const { token, ...rest } = answer.body;
    expect(token).toMatch(new RegExp(`^${rest.id}_[0-9a-f]{64}$`));
    expect(rest).toEqual({
      id: expect.any(Number),
      name: 'Deployments',
      description: 'CI',
      exp_date: '2099-01-01T10:00:00.000000Z',
      expired: false,
      deleted: false,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      last_usage: rest.created,
      client_user: {
        user_id: expect.any(Number),
        user_name: expect.any(String),
        user_email: expect.any(String),
        client_id: tenant.clientId,
        deleted: false,
        role: { id: 5, name: 'Engineers' },
      },
    });
    const read = await tenant.http.get(`${PATH}/${tenant.clientId}/tokens/${rest.id}`);
    expect(read.body).toEqual(rest);
    const { rows } = await service.pool.query('select to_jsonb(t)::text as row from api_tokens t where id = $1', [
      rest.id,
    ]);
    expect(rows[0].row).not.toContain(token.split('_')[1]);
  });

  it('writes it with a dollar sign under the older path, and both work everywhere', async () => {
    const answer = await tenant.http.post(`/iam/clients/${tenant.clientId}/tokens`, body({ name: 'Users' }));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.token).toMatch(/^\d+\$[0-9a-f]{64}$/);
    const http = createHttpClient(service.url, answer.body.token);
    expect((await http.get('/cloud/v1/projects')).status).toBe(200);
    expect((await http.get(`/gcore${PATH}/${tenant.clientId}/tokens/${answer.body.id}`)).status).toBe(200);
    expect((await tenant.http.get(`/iam/clients/${tenant.clientId}/tokens/${answer.body.id}`)).status).toBe(200);
  });

  it.each([
    ['none', { name: 'x', exp_date: null, client_user: {} }],
    ['an empty one', body({})],
  ])('takes Users for %s', async (_what, request) => {
    const answer = await tenant.http.post(`${PATH}/${tenant.clientId}/tokens`, request);
    expect([answer.status, answer.body.client_user?.role]).toEqual([200, { id: 2, name: 'Users' }]);
  });

  it.each([
    ['an unknown role', body({ id: 7 }), 'client_user.role', /^Invalid role: 7/],
    ['a name and an id that disagree', body({ id: 1, name: 'Users' }), 'client_user.role', /^Invalid role/],
    ['a past date', body({ id: 2 }, { exp_date: '2020-01-01T00:00:00Z' }), 'exp_date', /future/],
    ['a date that is none', body({ id: 2 }, { exp_date: '2099-02-30T00:00:00Z' }), 'exp_date', /date-time/],
    ['a leap second', body({ id: 2 }, { exp_date: '2099-06-30T23:59:60Z' }), 'exp_date', /date-time/],
    ['no date', { name: 'x', client_user: { role: { id: 2 } } }, 'exp_date', /required/],
    ['an empty name', body({ id: 2 }, { name: '' }), 'name', /empty/],
    ['an unknown field', body({ id: 2 }, { nmae: '' }), 'nmae', /Unknown/],
  ])('refuses %s', async (_what, request, field, text) => {
    const answer = await tenant.http.post(`${PATH}/${tenant.clientId}/tokens`, request);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[field][0]).toMatch(text);
  });

  it('gives no higher role than the maker has', async () => {
    const engineer = await made(tenant.http, tenant.clientId, { name: 'Engineers' });
    const refused = await engineer.http.post(`${PATH}/${tenant.clientId}/tokens`, body({ id: 1 }));
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      errors: { 'client_user.role': ["Can't create token with role Administrators"] },
    });
    await made(engineer.http, tenant.clientId, { name: 'Users' });
  });

  it('stops at 100 live tokens of an account, and goes on when one is deleted', async () => {
    const full = await service.otherTenant();
    await service.pool.query(
      `insert into api_tokens (client_id, user_id, role_id, name, description, secret_hash, created_at)
       select client_id, user_id, role_id, name, description, sha256('x'), created_at
         from api_tokens, generate_series(1, 97) where client_id = $1`,
      [full.clientId],
    );
    const attempts = await Promise.all(
      Array.from({ length: 6 }, () => full.http.post(`${PATH}/${full.clientId}/tokens`, body({ id: 2 }))),
    );
    const refused = attempts.find(({ status }) => status === 400);
    expect(attempts.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(refused?.body.errors.errors[0]).toContain('100');
    const last = attempts.find(({ status }) => status === 200);
    await full.http.delete(`${PATH}/${full.clientId}/tokens/${last?.body.id}`);
    await made(full.http, full.clientId, { id: 2 });
    await made(service.http, full.clientId, { id: 2 });
  });
});

describe('whose tokens', () => {
  it("a token that the platform's administrator makes for another account has that account's rights alone", async () => {
    const theirs = await made(service.http, tenant.clientId, { name: 'Administrators' });
    const projects = await theirs.http.get('/cloud/v1/projects');
    expect(projects.body.results.map(({ client_id }: { client_id: number }) => client_id)).toEqual([tenant.clientId]);
    expect((await theirs.http.get('/iam/admin/paid_features')).status).toBe(403);
    expect((await theirs.http.get(`${PATH}/1/tokens`)).status).toBe(403);
  });

  it("a lesser token of the platform's administrator is not the platform's", async () => {
    const engineer = await service.withRole('Engineers');
    expect((await engineer.get('/iam/admin/paid_features')).status).toBe(403);
    expect((await engineer.get(`${PATH}/${tenant.clientId}/tokens`)).status).toBe(403);
    expect((await engineer.get(`/cloud/v1/projects/${tenant.projectId}`)).status).toBe(404);
  });

  it.each([
    ['GET', ''],
    ['POST', ''],
    ['GET', '/1'],
    ['DELETE', '/1'],
  ])('%s of a foreign account is 403, whether it exists or not, before the body is read', async (method, rest) => {
    for (const base of [PATH, '/iam/clients']) {
      for (const clientId of [1, 999_999]) {
        const path = `${base}/${clientId}/tokens${rest}`;
        const answer = await tenant.http.request(method, path, method === 'POST' ? { raw: '{' } : {});
        expect(answer.status, path).toBe(403);
        expect(answer.body).toEqual({ message: expect.any(String) });
        expect((await service.anonymous.request(method, path)).status).toBe(401);
      }
    }
  });

  it('the platform administrator is told that an account does not exist', async () => {
    expect((await service.http.get(`${PATH}/999999/tokens`)).status).toBe(404);
  });

  it('a reseller manages the tokens of its own clients and of no others', async () => {
    const reseller = await addReseller(service, 'Northwind');
    const created = await reseller.http.post('/iam/clients/create', { company: 'Customer' });
    const theirs = await made(reseller.http, created.body.id, { name: 'Administrators' });
    expect((await theirs.http.get('/cloud/v1/projects')).body.count).toBe(1);
    expect((await theirs.http.get('/iam/admin/feature')).status).toBe(403);
    for (const clientId of [1, tenant.clientId, 999_999]) {
      expect((await reseller.http.get(`${PATH}/${clientId}/tokens`)).status).toBe(403);
    }
  });

  it("a reseller can't reach above itself through the account of the platform's administrator", async () => {
    const reseller = await asResellerOf(service, tenant.clientId);
    const refused = await reseller.post(`${PATH}/1/tokens`, body({ id: 1 }));
    expect(refused.status, refused.text).toBe(403);
    expect((await reseller.delete(`${PATH}/1/tokens/1`)).status).toBe(403);
    expect((await service.http.get('/iam/clients/me')).status).toBe(200);
  });

  it("an administrator can't revoke the token by which the reseller acts in the account", async () => {
    const account = await service.otherTenant();
    const reseller = await asResellerOf(service, account.clientId);
    const base = `${PATH}/${account.clientId}/tokens`;
    const [newest] = (await account.http.get(base)).body;
    expect((await account.http.delete(`${base}/${newest.id}`)).status).toBe(403);
    expect((await reseller.delete(`${base}/${newest.id}`)).status).toBe(204);
  });

  it('administrators see all tokens of the account, others those of their user', async () => {
    const account = await service.otherTenant();
    const { rows } = await service.pool.query(
      `insert into users (client_id, email, platform_administrator, created_at)
       values ($1, 'second@localhost', false, now()) returning id`,
      [account.clientId],
    );
    const engineer = await made(account.http, account.clientId, { id: 5 });
    await service.pool.query('insert into client_users values ($1, $2, 5, now())', [account.clientId, rows[0].id]);
    await service.pool.query('update api_tokens set user_id = $1 where id = $2', [rows[0].id, engineer.id]);
    const base = `${PATH}/${account.clientId}/tokens`;
    const ids = async (http: HttpClient, query = '') =>
      (await http.get(base + query)).body.map(({ id }: { id: number }) => id);
    const [first] = await ids(account.http, '?role=Administrators');
    expect(await ids(engineer.http)).toEqual([engineer.id]);
    expect(await ids(account.http)).toEqual([engineer.id, first]);
    expect((await engineer.http.get(`${base}/${first}`)).status).toBe(404);
    expect((await engineer.http.delete(`${base}/${first}`)).status).toBe(404);
    expect(await ids(account.http, '?role=5')).toEqual([engineer.id]);
    expect(await ids(account.http, `?issued_by=${rows[0].id}`)).toEqual([engineer.id]);
    expect(await ids(account.http, `?not_issued_by=${rows[0].id}`)).toEqual([first]);
    const unknown = await account.http.get(`${base}?role=Nobody`);
    expect(unknown.status).toBe(400);
    expect(unknown.body.errors.role[0]).toMatch(/^Invalid role: Nobody/);
    expect((await account.http.get(`${base}?limit=1`)).status).toBe(400);
  });
});

describe('the end of a token', () => {
  it('comes with its deletion, for the very next request', async () => {
    const token = await made(tenant.http, tenant.clientId, { id: 1 });
    expect((await token.http.get('/cloud/v1/projects')).status).toBe(200);
    const path = `${PATH}/${tenant.clientId}/tokens/${token.id}`;
    expect((await token.http.delete(path)).status).toBe(204);
    const after = await token.http.get('/cloud/v1/projects');
    expect(after.status).toBe(401);
    expect(after.body.message).toBe('Token is invalid or expired');
    expect((await tenant.http.get(path)).status).toBe(404);
    expect((await tenant.http.delete(path)).status).toBe(404);
    const deleted = await tenant.http.get(`${PATH}/${tenant.clientId}/tokens?deleted=true`);
    expect(deleted.body[0]).toMatchObject({ id: token.id, deleted: true, expired: false });
    const live = await tenant.http.get(`${PATH}/${tenant.clientId}/tokens?deleted=false`);
    expect(live.body.map(({ id }: { id: number }) => id)).not.toContain(token.id);
  });

  it('comes with its date; 30 days later it counts as deleted', async () => {
    const token = await made(tenant.http, tenant.clientId, { id: 2 }, { exp_date: '2099-01-01T00:00:00Z' });
    const path = `${PATH}/${tenant.clientId}/tokens/${token.id}`;
    const expire = (interval: string) =>
      service.pool.query('update api_tokens set expires_at = now() - $1::interval where id = $2', [interval, token.id]);
    await expire('1 second');
    expect((await token.http.get('/cloud/v1/projects')).body.message).toBe('Token is invalid or expired');
    expect((await tenant.http.get(path)).body).toMatchObject({ expired: true, deleted: false });
    await expire('31 days');
    expect((await tenant.http.get(path)).status).toBe(404);
    const deleted = await tenant.http.get(`${PATH}/${tenant.clientId}/tokens?deleted=true`);
    expect(deleted.body).toContainEqual(expect.objectContaining({ id: token.id, expired: true, deleted: true }));
  });

  it('is not in the hands of a token with fewer rights, though both are of one user', async () => {
    const high = await made(tenant.http, tenant.clientId, { id: 1 });
    const low = await made(tenant.http, tenant.clientId, { id: 2 });
    const refused = await low.http.delete(`${PATH}/${tenant.clientId}/tokens/${high.id}`);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('Administrators');
    expect((await high.http.get('/cloud/v1/projects')).status).toBe(200);
  });

  it('of an id that is none is 400 or 404', async () => {
    for (const id of ['abc', '1.5', '-1', '99999999999999999999']) {
      const answer = await tenant.http.get(`${PATH}/${tenant.clientId}/tokens/${id}`);
      expect([400, 404], id).toContain(answer.status);
      expect([400, 403, 404], id).toContain((await tenant.http.get(`${PATH}/${id}/tokens`)).status);
    }
  });
});
