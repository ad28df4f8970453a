import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addReseller } from '../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startService();
  tenant = await service.otherTenant();
});
afterAll(() => service?.stop());

describe("the token's own account", () => {
  it('has every required field, and the features of the account by service', async () => {
    const paid = await service.http.post('/iam/admin/paid_features', {
      client_id: tenant.clientId,
      feature_id: 8,
    });
    const free = await service.http.post('/iam/admin/free_features', {
      client_id: tenant.clientId,
      feature_id: 24,
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
      CLOUD: [
        {
          feature_id: 8,
          service: 'CLOUD',
          name: 'GPU clusters',
          create_date: paid.body.created_date,
          paid_feature_id: paid.body.id,
        },
      ],
      DDOS: [],
      DNS: [],
      STORAGE: [],
      STREAMING: [],
    });
    expect(body.freeFeatures.CLOUD[0].free_feature_id).toBe(free.body.id);
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
