import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyEmail, newPerson, PASSWORD, type Person } from '../../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/iam/products/availability';
const DEFAULTS = `${BASE}/defaults`;
const of = ({ clientId }: { clientId: number }) => `${BASE}/clients/${clientId}`;
const IN_USE = { message: expect.stringMatching(/pause/i), trial: [], activating: [], active: ['CLOUD'] };

let service: TestService;
let reseller: TestReseller;
beforeAll(async () => {
  service = await borrowService();
  reseller = await addReseller(service, 'Offering');
});
afterAll(() => service?.stop());

const set = (path: string, product_name: string, available: boolean, http = reseller.http) =>
  http.patch(path, { product_name, available });
const reset = (path: string, product_names: string[], http = reseller.http) =>
  http.request('DELETE', path, { body: { product_names } });
async function available(path: string): Promise<string[]> {
  const { status, body, text } = await reseller.http.get(path);
  expect(status, text).toBe(200);
  return body.flatMap((one: { product_name: string; available: boolean }) => (one.available ? [one.product_name] : []));
}
async function switched(client: Person, name: string, status: string, http = reseller.http) {
  const services = `/iam/clients/${client.clientId}/services`;
  const { body } = await http.get(services);
  const { id } = body.find((one: { name: string }) => one.name === name);
  return http.put(`${services}/${id}`, { status });
}

describe('what a client may have', () => {
  let client: Person;
  beforeAll(async () => {
    client = await newPerson(reseller.http);
  });

  it('is everything that is offered, until the reseller decides otherwise', async () => {
    const { body } = await reseller.http.get(of(client));
    expect(body).toEqual(
      ['CDN', 'CLOUD', 'DDOS', 'DNS', 'STORAGE', 'STREAMING'].map((product_name) => ({
        product_name,
        available: product_name === 'CLOUD' || product_name === 'STREAMING',
      })),
    );
    expect((await reseller.http.get(DEFAULTS)).body).toEqual(body);
  });

  it('is not taken away while it is used, and cannot be switched on afterwards', async () => {
    const refused = await set(of(client), 'CLOUD', false);
    expect([refused.status, refused.body]).toEqual([403, IN_USE]);
    await switched(client, 'CLOUD', 'trial');
    expect((await set(of(client), 'CLOUD', false)).body).toEqual({ ...IN_USE, trial: ['CLOUD'], active: [] });
    await switched(client, 'CLOUD', 'paused');
    const taken = await set(of(client), 'CLOUD', false);
    expect([taken.status, taken.body]).toEqual([200, { product_name: 'CLOUD', available: false }]);
    expect(await available(of(client))).toEqual(['STREAMING']);
    const on = await switched(client, 'CLOUD', 'active');
    expect([on.status, on.body]).toEqual([400, { errors: { status: [expect.stringMatching(/not available/)] } }]);
    expect((await client.http.get('/iam/clients/me')).body.capabilities).toEqual(['STREAMING']);
    expect((await client.http.get('/cloud/v1/projects')).status).toBe(403);
    const found = await reseller.http.get('/iam/clients?personal_product_availability=CLOUD,STREAMING');
    expect(found.body.map(({ id }: { id: number }) => id)).toEqual([client.clientId]);
    expect((await reseller.http.get('/iam/clients?personal_product_availability=STREAMING')).body).toEqual([]);
    expect((await set(of(client), 'CLOUD', true)).status).toBe(200);
    expect((await switched(client, 'CLOUD', 'active')).status).toBe(200);
    expect((await client.http.get('/cloud/v1/projects')).status).toBe(200);
  });

  it('has no features while it is not available', async () => {
    const other = await newPerson(reseller.http);
    await switched(other, 'STREAMING', 'paused');
    expect((await set(of(other), 'STREAMING', false)).status).toBe(200);
    const activate = () => reseller.http.post('/iam/admin/paid_features', { client_id: other.clientId, feature_id: 5 });
    const refused = await activate();
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, ['feature_id']]);
    expect((await set(of(other), 'STREAMING', true)).status).toBe(200);
    expect((await activate()).status).toBe(201);
  });

  it.each([
    [{ product_name: 'CDN', available: true }, 'available'],
    [{ product_name: 'X', available: true }, 'product_name'],
    [{ product_name: 'CLOUD' }, 'available'],
    [{ product_name: 'CLOUD', available: null }, 'available'],
  ])('is not %j', async (body, field) => {
    for (const path of [of(client), DEFAULTS]) {
      const answer = await reseller.http.patch(path, body);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
    }
  });

  it('stays as it is for what nobody has', async () => {
    expect((await set(of(client), 'CDN', false)).status).toBe(200);
    expect((await set(DEFAULTS, 'DNS', false)).status).toBe(200);
    for (const names of [[], ['X'], undefined]) {
      const body = names === undefined ? {} : { product_names: names };
      const answer = await reseller.http.request('DELETE', of(client), { body });
      expect(answer.status).toBe(400);
    }
  });
});

describe('the default', () => {
  let own: TestReseller;
  let first: Person;
  beforeAll(async () => {
    own = await addReseller(service, 'Defaulting');
    first = await newPerson(own.http);
  });

  it('counts for clients that nothing else was decided for, and for new ones from the start', async () => {
    const refused = await set(DEFAULTS, 'CLOUD', false, own.http);
    expect([refused.status, refused.body]).toEqual([403, IN_USE]);
    expect((await set(of(first), 'CLOUD', true, own.http)).status).toBe(200);
    expect((await set(DEFAULTS, 'CLOUD', false, own.http)).status).toBe(200);
    const second = await newPerson(own.http);
    expect((await second.http.get('/iam/clients/me')).body).toMatchObject({
      capabilities: ['STREAMING'],
      serviceStatuses: { CLOUD: { status: 'new', enabled: false }, STREAMING: { status: 'active' } },
    });
    expect((await second.http.get('/cloud/v1/projects')).status).toBe(403);
    expect((await first.http.get('/cloud/v1/projects')).status).toBe(200);
    expect((await own.http.get('/cloud/v1/projects')).status).toBe(200);
    const all = await reset(`${BASE}/clients`, ['CLOUD'], own.http);
    expect([all.status, all.body]).toEqual([403, IN_USE]);
    expect((await reset(of(first), ['CLOUD'], own.http)).body).toEqual(IN_USE);
    expect((await set(DEFAULTS, 'CLOUD', true, own.http)).status).toBe(200);
    expect((await reset(`${BASE}/clients`, ['CLOUD', 'CDN'], own.http)).status).toBe(204);
    expect((await own.http.get('/iam/clients?personal_product_availability=CLOUD')).body).toEqual([]);
    expect((await reset(of(first), ['CLOUD'], own.http)).status).toBe(204);
  });

  it('is decided otherwise when a client is made', async () => {
    const make = async (services: object[]) => {
      const body = { email: anyEmail(), password: PASSWORD, company: 'Made', services };
      const made = await own.http.post('/iam/users', body);
      expect(made.status, made.text).toBe(201);
      return (await own.http.get(`/iam/clients/${made.body.client}`)).body.capabilities;
    };
    expect(await make([{ product_name: 'STREAMING', available: false }])).toEqual(['CLOUD']);
    expect(await make([{ product_name: 'STREAMING', available: null }])).toEqual(['CLOUD', 'STREAMING']);
  });
});

it('is for the reseller of the client alone', async () => {
  const rival = await addReseller(service, 'Outbidding');
  const client = await newPerson(reseller.http);
  for (const [http, status] of [
    [rival.http, 404],
    [client.http, 403],
    [service.anonymous, 401],
  ] as const) {
    expect((await http.get(of(client))).status).toBe(status);
    expect((await set(of(client), 'CLOUD', false, http)).status).toBe(status);
    expect((await reset(of(client), ['CLOUD'], http)).status).toBe(status);
  }
  for (const [http, status] of [
    [client.http, 403],
    [service.anonymous, 401],
  ] as const) {
    expect((await http.get(DEFAULTS)).status).toBe(status);
    expect((await set(DEFAULTS, 'CLOUD', true, http)).status).toBe(status);
    expect((await reset(`${BASE}/clients`, ['CLOUD'], http)).status).toBe(status);
  }
  expect((await rival.http.get(DEFAULTS)).body).toHaveLength(6);
});

it('follows a client to another reseller as far as it is used', async () => {
  const next = await addReseller(service, 'Receiving');
  expect((await set(DEFAULTS, 'CLOUD', false, next.http)).status).toBe(200);
  expect((await set(DEFAULTS, 'STREAMING', false, next.http)).status).toBe(200);
  const client = await newPerson(reseller.http);
  await switched(client, 'STREAMING', 'paused');
  expect((await set(of(client), 'STREAMING', true)).status).toBe(200);
  const path = `/iam/clients/${client.clientId}`;
  const moved = await service.http.patch(path, { reseller: next.resellerId });
  expect(moved.body).toMatchObject({
    resellers: next.resellerId,
    capabilities: ['CLOUD'],
    serviceStatuses: { CLOUD: { status: 'active' }, STREAMING: { status: 'paused' } },
  });
  expect((await client.http.get('/cloud/v1/projects')).status).toBe(200);
  for (const product of ['CLOUD', 'STREAMING'])
    expect((await set(DEFAULTS, product, false, next.http)).status).toBe(200);
  const kept = await reset(of(client), ['CLOUD'], next.http);
  expect([kept.status, kept.body]).toEqual([403, IN_USE]);
  await switched(client, 'CLOUD', 'paused', next.http);
  expect((await reset(of(client), ['CLOUD'], next.http)).status).toBe(204);
  // The former decision would make it available here too.
  expect((await next.http.get(path)).body.capabilities).toEqual([]);
  await service.http.patch(path, { reseller: reseller.resellerId });
  expect(await available(of(client))).toEqual(['CLOUD', 'STREAMING']);
  const decided = await reseller.http.get('/iam/clients?personal_product_availability=CLOUD,STREAMING');
  expect(decided.body.map(({ id }: { id: number }) => id)).not.toContain(client.clientId);
});

describe('decisions that wait', () => {
  const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

  it.each([
    ['made', (path: string) => set(path, 'STREAMING', true)],
    ['ended', (path: string) => reset(path, ['STREAMING'])],
  ])('are not %s for a client that went to another reseller meanwhile', async (_, decide) => {
    const { clientId } = await newPerson(reseller.http);
    const holder = await service.pool.connect();
    await holder.query('begin');
    await holder.query('select from clients where id = $1 for no key update', [clientId]);
    const deciding = decide(of({ clientId }));
    await expect.poll(async () => (await holder.query(WAITING)).rowCount).toBe(1);
    await holder.query('update clients set reseller_id = 1 where id = $1', [clientId]);
    await holder.query('commit');
    holder.release();
    expect((await deciding).status).toBe(404);
    const { body } = await service.http.get(`/iam/clients?personal_product_availability=STREAMING`);
    expect(body.map(({ id }: { id: number }) => id)).not.toContain(clientId);
  });
});
