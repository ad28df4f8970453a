import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpClient, SOON } from '../../../test/support/http-client.ts';
import { newPerson } from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { borrowService, type Tenant, type TestService } from '../../../test/support/service.ts';
import { openDatabase } from '../../db/database.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { announceClient } from '../logins/in-transaction.ts';
import { setStatusOf } from './changes.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
});
afterAll(() => service?.stop());

describe("the token's own account", () => {
  it('has every required field, and the features of the account by service', async () => {
    const paid = await service.http.post('/iam/admin/paid_features', {
      client_id: tenant.clientId,
      feature_id: 5,
    });
    const free = await service.http.post('/iam/admin/free_features', {
      client_id: tenant.clientId,
      feature_id: 6,
    });
    const { status, body } = await tenant.http.get('/iam/clients/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: tenant.clientId,
      email: expect.stringContaining('@'),
      name: null,
      status: 'active',
      companyName: expect.stringMatching(/^Other /),
      currentUser: expect.any(Number),
      capabilities: ['CLOUD', 'STREAMING'],
      entryBaseDomain: null,
      deleted: false,
      bill_type: 'common',
      is_test: false,
      has_active_admin: true,
    });
    expect(body.serviceStatuses.CLOUD).toEqual({ status: 'active', enabled: true });
    expect(body.serviceStatuses.DNS).toEqual({ status: 'new', enabled: false });
    expect(body.paidFeatures).toEqual({
      CDN: [],
      CLOUD: [],
      DDOS: [],
      DNS: [],
      STORAGE: [],
      STREAMING: [
        {
          feature_id: 5,
          service: 'STREAMING',
          name: 'Speech transcription',
          create_date: paid.body.created_date,
          paid_feature_id: paid.body.id,
        },
      ],
    });
    expect(body.freeFeatures.STREAMING[0].free_feature_id).toBe(free.body.id);
    expect((await service.http.get('/gcore/iam/clients/me')).body).toMatchObject({
      id: 1,
      companyName: 'Tradewind',
    });
  });

  it('needs a token', async () => {
    expect((await service.anonymous.get('/iam/clients/me')).status).toBe(401);
  });
});

describe('a new client', () => {
  it('has a default project and belongs to the reseller that made it', async () => {
    const reseller = await addReseller(service, 'Northwind');
    const created = await reseller.http.post('/iam/clients/create', { company: 'Example Ltd' });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toEqual({ id: expect.any(Number), company: 'Example Ltd' });
    const { rows } = await service.pool.query(
      `select c.reseller_id::int as reseller, p.is_default, p.name from clients c join projects p on p.client_id = c.id where c.id = $1`,
      [created.body.id],
    );
    expect(rows).toEqual([{ reseller: reseller.resellerId, is_default: true, name: 'Default' }]);
    const same = await reseller.http.post('/iam/clients/create', { company: 'Example Ltd' });
    expect(same.body.id).not.toBe(created.body.id);
  });

  it.each([
    [{}, 'company', /required/],
    [{ company: '' }, 'company', /empty/],
    [{ company: '  ' }, 'company', /empty/],
    [{ company: 'x'.repeat(256) }, 'company', /255/],
    [{ company: 5 }, 'company', /string/],
    [{ company: 'x', email: 'a@example.com' }, 'email', /Unknown/],
  ])('is refused for %j', async (body, field, text) => {
    const answer = await service.http.post('/iam/clients/create', body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[field][0]).toMatch(text);
  });

  it('is for resellers to make', async () => {
    expect((await tenant.http.post('/iam/clients/create', { company: 'x' })).status).toBe(403);
    expect((await service.anonymous.post('/iam/clients/create', { company: 'x' })).status).toBe(401);
  });
});

describe('a paused account', () => {
  it('lets nobody in, by login or API token, until it is active again', async () => {
    const person = await newPerson(service.http);
    const base = `/iam/v2/clients/${person.clientId}/tokens`;
    const body = { name: 'x', exp_date: null, client_user: { role: { id: 2 } } };
    const token = createHttpClient(service.url, (await person.http.post(base, body)).body.token);
    const statuses = async () => [
      (await person.http.get('/iam/clients/me')).status,
      (await token.get('/iam/clients/me')).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
    try {
      await setStatusOf({ database }, person.clientId, 'paused');
      await expect.poll(statuses).toEqual([401, 401]);
      expect((await service.http.get(`/iam/clients/${person.clientId}`)).body).toMatchObject({
        status: 'paused',
        serviceStatuses: { CLOUD: { status: 'paused', enabled: false } },
      });
      expect((await service.http.get('/iam/clients?cloud=paused')).body).toMatchObject([{ id: person.clientId }]);
      await setStatusOf({ database }, person.clientId, 'active');
      await expect.poll(statuses).toEqual([200, 200]);
      await expect(setStatusOf({ database }, 1, 'paused')).rejects.toThrow(ConflictError);
      await expect(setStatusOf({ database }, 999_999, 'paused')).rejects.toThrow(NotFoundError);
    } finally {
      await database.close();
    }
  });
});

it('tells of credentials that are there, not of deleted ones', async () => {
  const path = `/iam/v2/clients/${tenant.clientId}/tokens`;
  const make = async () =>
    (await tenant.http.post(path, { name: 'x', exp_date: null, client_user: { role: { id: 1 } } })).body;
  const [gone, kept] = [await make(), await make()];
  await tenant.http.delete(`${path}/${gone.id}`);
  const database = openDatabase(service.pool.options, 1);
  const { tokens } = await database.transaction((tx) => announceClient(tx, tenant.clientId));
  expect(tokens).toContain(kept.id);
  expect(tokens).not.toContain(gone.id);
  await database.close();
});

describe('the clients of a reseller', () => {
  let reseller: TestReseller;
  let ids: number[];
  beforeAll(async () => {
    reseller = await addReseller(service, 'Lister');
    ids = [];
    for (const more of [
      { company: 'Alpha 100%', name: 'Ann', custom_id: 'A', country_code: 'DE', is_test: true },
      { company: 'Beta_1', name: 'Bob', custom_id: 'B' },
      { company: 'Gamma', name: 'Cid' },
    ]) {
      ids.push((await newPerson(reseller.http, more)).clientId);
    }
    await service.http.post('/iam/admin/paid_features', { client_id: ids[1], feature_id: 5 });
    await service.pool.query('update clients set deleted_at = now() where id = $1', [ids[2]]);
  });

  it('get no seller who is leaving', async () => {
    const { body: me } = await reseller.http.get('/iam/clients/me');
    const leaving = await service.pool.connect();
    await leaving.query('begin');
    await leaving.query('update users set reseller_id = null where id = $1', [me.currentUser]);
    const asking = service.http.patch(`/iam/clients/${ids[0]}`, { seller: me.currentUser });
    await vi.waitFor(async () => {
      const { rows } = await service.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    }, SOON);
    await leaving.query('commit');
    const { status, body: refusal } = await asking;
    await leaving.query('update users set reseller_id = $2 where id = $1', [me.currentUser, reseller.resellerId]);
    leaving.release();
    expect([status, Object.keys(refusal.errors)]).toEqual([400, ['seller']]);
  });

  const listed = async (query: string): Promise<number[]> => {
    const { status, body, text } = await reseller.http.get(`/iam/clients?${query}`);
    expect(status, text).toBe(200);
    return body.map(({ id }: { id: number }) => id);
  };

  it('come as an array, and as a page with a limit', async () => {
    expect(await listed('')).toEqual([reseller.clientId, ...ids]);
    const { body } = await reseller.http.get('/iam/clients?limit=2&offset=1&is_test=false');
    expect(body).toMatchObject({
      count: 3,
      next: null,
      previous: '/iam/clients?offset=0&limit=2&is_test=false&ordering=id',
    });
    expect(body.results.map(({ id }: { id: number }) => id)).toEqual([ids[1], ids[2]]);
    expect(body.results[0]).toMatchObject({
      companyName: 'Beta_1',
      client_type: 'common',
      resellers: reseller.resellerId,
      seller: null,
      owner: expect.any(Number),
      paidFeatures: { STREAMING: [{ feature_id: 5 }] },
    });
    const all = await service.http.get('/iam/clients');
    expect(all.body.length).toBeGreaterThan(4);
  });

  it.each([
    ['companyName=ALPHA', [0]],
    ['companyName=100%25', [0]],
    ['companyName=a_1', [1]],
    ['name=bo', [1]],
    ['email=someone', [0, 1, 2]],
    ['deleted=true', [2]],
    ['deleted=false&email=someone', [0, 1]],
    ['deleted=any&email=someone', [0, 1, 2]],
    ['custom_id=A', [0]],
    ['country_code=DE', [0]],
    ['is_test=true', [0]],
    ['users_name=cid', [2]],
    ['users_email=example.com', [0, 1, 2]],
    ['feature_id_in=5,9', [1]],
    ['cloud=active&email=someone', [0, 1, 2]],
    ['cloud=paused', []],
    ['cdn=new&email=someone', [0, 1, 2]],
    ['cdn=active', []],
    ['activated=true', [0, 1, 2]],
    ['bill_type=common&email=someone', [0, 1, 2]],
    ['bill_type=other', []],
    ['promocode=x', []],
    ['client_type=sales', []],
    ['client_type=common', [0, 1, 2]],
    ['reseller_id=1', []],
    ['seller_id=1', []],
    ['created_at_gte=2020-01-01T00:00:00Z&email=someone', [0, 1, 2]],
    ['created_at_lte=2020-01-01T00:00:00Z', []],
    ['ordering=-companyName&email=someone', [2, 1, 0]],
    ['ordering=status,-id&email=someone', [2, 1, 0]],
    ['ordering=created_at&email=someone', [0, 1, 2]],
  ])('are filtered and ordered by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected.map((index) => ids[index]));
  });

  it('leave out those that are named', async () => {
    expect(await listed(`id__in__exclude=${reseller.clientId},${ids[0]}`)).toEqual([ids[1], ids[2]]);
    expect(await listed('client_type=reseller')).toEqual([reseller.clientId]);
  });

  it.each(['ordering=password', 'ordering=id,,email', 'cloud=odd', 'id__in__exclude=1,x', 'limit=0'])(
    'are 400 for %s',
    async (query) => {
      expect((await reseller.http.get(`/iam/clients?${query}`)).status).toBe(400);
    },
  );

  it('are read and changed one by one', async () => {
    const path = `/iam/clients/${ids[0]}`;
    const { body: before } = await reseller.http.get(path);
    expect(before.users).toMatchObject([{ id: before.owner, groups: [{ id: 1 }] }]);
    const seller = (await reseller.http.get('/iam/clients/me')).body.currentUser;
    const changes = { companyName: 'New', name: null, phone: '+1', custom_id: 'C', is_test: false };
    const changed = await reseller.http.patch(path, {
      ...changes,
      email: 'ask@example.com',
      seller,
      reseller: reseller.resellerId,
    });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body).toMatchObject({ ...changes, email: 'ask@example.com', seller });
    expect(await listed(`seller_id=${seller}`)).toEqual([ids[0]]);
    for (const [body, field] of [
      [{ email: 'x' }, 'email'],
      [{ seller: 1 }, 'seller'],
      [{ reseller: 1 }, 'reseller'],
      [{ companyName: null }, 'companyName'],
      [{ status: 'paused' }, 'status'],
    ] as const) {
      const answer = await reseller.http.patch(path, body);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
    }
    const unknown = await service.http.patch(path, { reseller: 999_999 });
    expect([unknown.status, unknown.body.errors.reseller[0]]).toEqual([400, expect.stringMatching(/999999/)]);
    const moved = await service.http.patch(path, { reseller: 1 });
    expect(moved.body).toMatchObject({ resellers: 1, seller: null });
    expect((await reseller.http.get(path)).status).toBe(404);
  });

  it('are out of reach for others', async () => {
    for (const id of [1, tenant.clientId, 999_999]) {
      expect((await reseller.http.get(`/iam/clients/${id}`)).status).toBe(404);
      expect((await reseller.http.patch(`/iam/clients/${id}`, { name: 'x' })).status).toBe(404);
    }
    expect((await tenant.http.get('/iam/clients')).status).toBe(403);
    expect((await tenant.http.get(`/iam/clients/${tenant.clientId}`)).status).toBe(403);
  });
});
