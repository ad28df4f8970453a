import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { borrowService, type Tenant, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let tenant: Tenant;
let reseller: TestReseller;

const PAID = 5;
const FREE = 6;
const kinds = [
  { base: '/iam/admin/paid_features', own: PAID, other: FREE, is_free: false },
  { base: '/iam/admin/free_features', own: FREE, other: PAID, is_free: true },
];

beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
  reseller = await addReseller(service, 'Northwind');
});
afterAll(() => service?.stop());

describe('the catalogue of features', () => {
  it('is a bare array, and each is readable by its id', async () => {
    const list = await service.http.get('/iam/admin/feature');
    expect(list.status).toBe(200);
    expect(list.body).toContainEqual({
      id: 5,
      name: 'Speech transcription',
      service: 'STREAMING',
      is_free: false,
    });
    expect((await reseller.http.get('/gcore/iam/admin/feature')).body).toEqual(list.body);
    const one = await service.http.get('/iam/admin/feature/6');
    expect(one.body).toEqual({ id: 6, name: 'Content moderation', service: 'STREAMING', is_free: true });
    expect((await service.http.get('/iam/admin/feature/9999')).status).toBe(404);
    expect((await service.http.get('/iam/admin/feature/abc')).status).toBe(400);
  });
});

describe.each(kinds)('$base', ({ base, own, other, is_free }) => {
  it('activates, lists, reads and deactivates', async () => {
    const created = await service.http.post(base, { client_id: tenant.clientId, feature_id: own });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(Number),
      client_id: tenant.clientId,
      feature_id: own,
      feature: expect.objectContaining({ id: own, name: expect.any(String), is_free }),
      created_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect((await service.http.get(base)).body).toEqual([created.body]);
    const path = `${base}/${created.body.id}`;
    expect((await service.http.get(path)).body).toEqual(created.body);

    const again = await service.http.post(base, { client_id: tenant.clientId, feature_id: own });
    expect(again.status).toBe(400);
    expect(again.body.errors.feature_id[0]).toContain('already');

    expect((await service.http.delete(path)).status).toBe(204);
    expect((await service.http.get(path)).status).toBe(404);
    expect((await service.http.delete(path)).status).toBe(404);
    expect((await service.http.get(base)).body).toEqual([]);
    const anew = await service.http.post(base, { client_id: tenant.clientId, feature_id: own });
    expect(anew.status).toBe(201);
    expect(anew.body.id).not.toBe(created.body.id);
  });

  it('refuses an unknown client and an unknown feature, both at once', async () => {
    const answer = await service.http.post(base, { client_id: 999_999, feature_id: 1 });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      errors: {
        client_id: ['Client with id:999999 does not exists.'],
        feature_id: ['Feature with id:1 does not exists.'],
      },
    });
  });

  it('refuses a feature of the other kind, which is also not found under this path', async () => {
    const answer = await service.http.post(base, { client_id: 1, feature_id: other });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.feature_id[0]).toContain(is_free ? 'paid_features' : 'free_features');
    const elsewhere = kinds.find((kind) => kind.base !== base)?.base ?? '';
    const { clientId } = await service.otherTenant();
    const made = await service.http.post(elsewhere, { client_id: clientId, feature_id: other });
    expect(made.status, made.text).toBe(201);
    for (const method of ['GET', 'DELETE']) {
      expect((await service.http.request(method, `${base}/${made.body.id}`)).status).toBe(404);
    }
    expect((await service.http.delete(`${elsewhere}/${made.body.id}`)).status).toBe(204);
  });

  it.each([
    [{}, ['client_id', 'feature_id']],
    [{ client_id: '1', feature_id: 2.5 }, ['client_id', 'feature_id']],
    [{ client_id: null, feature_id: own }, ['client_id']],
    [{ client_id: 1, feature_id: own, enabled: true }, ['enabled']],
  ])('refuses the body %j by field', async (body, fields) => {
    const answer = await service.http.post(base, body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.errors).sort()).toEqual(fields);
  });

  it('answers malformed JSON with a message', async () => {
    const answer = await service.http.request('POST', base, { raw: '{"client_id"' });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ message: expect.stringMatching(/^JSON parse error - /) });
  });

  it("keeps a reseller to its own clients' activations", async () => {
    const theirs = await reseller.http.post(base, { client_id: reseller.clientId, feature_id: own });
    expect(theirs.status, theirs.text).toBe(201);
    const ours = await service.http.post(base, { client_id: 1, feature_id: own });
    expect(ours.status, ours.text).toBe(201);
    expect((await reseller.http.get(base)).body).toEqual([theirs.body]);
    const everyone = (await service.http.get(base)).body;
    expect(everyone).toContainEqual(ours.body);
    expect(everyone).toContainEqual(theirs.body);
    for (const method of ['GET', 'DELETE']) {
      expect((await reseller.http.request(method, `${base}/${ours.body.id}`)).status).toBe(404);
    }
    expect((await service.http.get(`${base}/${ours.body.id}`)).status).toBe(200);
    const foreign = await reseller.http.post(base, { client_id: 1, feature_id: own });
    expect(foreign.body.errors).toEqual({ client_id: ['Client with id:1 does not exists.'] });
  });

  it('needs a reseller and a token, before the body is read', async () => {
    for (const [method, path] of [
      ['GET', base],
      ['POST', base],
      ['GET', `${base}/1`],
      ['DELETE', `${base}/1`],
    ] as const) {
      const raw = method === 'POST' ? { raw: '{' } : {};
      expect((await tenant.http.request(method, path, raw)).status, `${method} ${path}`).toBe(403);
      const anonymous = await service.anonymous.request(method, path, raw);
      expect(anonymous.status).toBe(401);
      expect(anonymous.body).toEqual({
        message: 'Authentication credentials were not provided.',
        hint: expect.any(String),
      });
    }
    expect((await tenant.http.get('/iam/admin/feature')).status).toBe(403);
    expect((await service.anonymous.get('/iam/admin/feature/2')).status).toBe(401);
  });
});
