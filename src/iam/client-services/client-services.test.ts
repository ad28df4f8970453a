import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../test/support/http-client.ts';
import { newPerson, type Person } from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let reseller: TestReseller;
let client: Person;
beforeAll(async () => {
  service = await borrowService();
  reseller = await addReseller(service, 'Serving');
  client = await newPerson(reseller.http);
});
afterAll(() => service?.stop());

const base = ({ clientId }: { clientId: number }) => `/iam/clients/${clientId}/services`;
async function one(name: string, of: Person = client) {
  const { body } = await service.http.get(base(of));
  return body.find((each: { name: string }) => each.name === name);
}

describe('the services of a client', () => {
  it('are those of the published contract, two of them offered', async () => {
    const { status, body } = await reseller.http.get(base(client));
    expect([status, body.map(({ name, status: is }: { name: string; status: string }) => [name, is])]).toEqual([
      200,
      [
        ['CDN', 'new'],
        ['CLOUD', 'active'],
        ['DDOS', 'new'],
        ['DNS', 'new'],
        ['STORAGE', 'new'],
        ['STREAMING', 'active'],
      ],
    ]);
    expect(body[1]).toEqual({
      id: expect.any(Number),
      name: 'CLOUD',
      client: client.clientId,
      status: 'active',
      previous_status: 'new',
      status_changed_at: expect.stringMatching(/Z$/),
      start: expect.stringMatching(/Z$/),
      enabled: true,
      options: [],
      status_transition_options: [],
    });
    expect((await reseller.http.get(`${base(client)}/${body[1].id}`)).body).toEqual(body[1]);
  });

  it('shut out logins and API tokens at once, each its own part, and let them in again', async () => {
    const tokens = `/iam/v2/clients/${client.clientId}/tokens`;
    const request = { name: 'x', exp_date: null, client_user: { role: { id: 2 } } };
    const token = createHttpClient(service.url, (await client.http.post(tokens, request)).body.token);
    const paths = ['/cloud/v1/projects', '/streaming/ai/tasks', '/iam/clients/me'];
    const statuses = async () =>
      Promise.all([client.http, token].flatMap((http) => paths.map(async (at) => (await http.get(at)).status)));
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
    const path = `${base(client)}/${(await one('CLOUD')).id}`;
    const paused = await reseller.http.put(path, { status: 'paused' });
    expect([paused.status, paused.body]).toMatchObject([
      200,
      { status: 'paused', previous_status: 'active', enabled: false },
    ]);
    expect(await statuses()).toEqual([403, 200, 200, 403, 200, 200]);
    expect((await client.http.get('/gcore/cloud/v1/projects')).body.message).toMatch(/CLOUD is switched off/);
    expect((await client.http.get('/iam/clients/me')).body.serviceStatuses.CLOUD).toEqual({
      status: 'paused',
      enabled: false,
    });
    const named = async (query: string) =>
      (await reseller.http.get(`/iam/clients?${query}`)).body.map(({ id }: { id: number }) => id);
    expect(await named('cloud=paused')).toEqual([client.clientId]);
    expect(await named('cloud=paused&streaming=active')).toEqual([client.clientId]);
    expect(await named('cloud=active')).toEqual([reseller.clientId]);
    expect((await reseller.http.patch(path, { status: 'trial' })).body).toMatchObject({
      status: 'trial',
      previous_status: 'paused',
      enabled: true,
    });
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await reseller.http.put(path, { status: 'trial', enabled: false })).body.enabled).toBe(false);
    expect(await statuses()).toEqual([403, 200, 200, 403, 200, 200]);
    const read = (await reseller.http.get(path)).body;
    expect((await reseller.http.patch(path, { ...read, enabled: true })).body).toMatchObject({
      status: 'trial',
      previous_status: 'paused',
      status_changed_at: read.status_changed_at,
    });
    expect((await reseller.http.patch(path, {})).body.enabled).toBe(true);
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it.each([
    ['CLOUD', {}, 'status', 400],
    ['CLOUD', { status: 'deleted' }, 'status', 400],
    ['CLOUD', { status: 'active', options: [{ id: 1 }] }, 'options', 400],
    ['CDN', { status: 'active' }, 'status', 400],
  ])('%s is not changed by %j', async (name, body, field, status) => {
    const answer = await reseller.http.put(`${base(client)}/${(await one(name)).id}`, body);
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([status, [field]]);
  });

  it('are changed at a version of their account', async () => {
    const path = `${base(client)}/${(await one('STREAMING')).id}`;
    const etag = (await reseller.http.get(`/iam/clients/${client.clientId}`)).headers.get('etag') ?? '';
    const change = (status: string) =>
      reseller.http.request('PUT', path, { body: { status }, headers: { 'if-match': etag } });
    expect((await change('trial')).status).toBe(200);
    expect((await change('active')).status).toBe(412);
  });

  it("of the platform's own account stay on, and those of a paused one off", async () => {
    const cloud = (await service.http.get(base({ clientId: 1 }))).body[1];
    const own = await service.http.put(`${base({ clientId: 1 })}/${cloud.id}`, { status: 'paused' });
    expect(own.status).toBe(409);
    const other = await newPerson(service.http);
    await service.pool.query(`update clients set status = 'paused' where id = $1`, [other.clientId]);
    const { id, ...rest } = await one('CLOUD', other);
    expect(rest).toMatchObject({ status: 'paused', previous_status: 'active', enabled: false });
    const opened = await service.http.put(`${base(other)}/${id}`, { status: 'active' });
    expect([opened.status, Object.keys(opened.body.errors)]).toEqual([400, ['status']]);
  });

  it('are for the reseller of the client alone', async () => {
    const rival = await addReseller(service, 'Rivalling');
    const path = `${base(client)}/${(await one('CLOUD')).id}`;
    for (const [http, status] of [
      [rival.http, 404],
      [client.http, 403],
      [service.anonymous, 401],
    ] as const) {
      expect((await http.get(base(client))).status).toBe(status);
      expect((await http.get(path)).status).toBe(status);
      expect((await http.put(path, { status: 'paused' })).status).toBe(status);
      expect((await http.patch(path, { status: 'paused' })).status).toBe(status);
    }
    const other = await newPerson(reseller.http);
    expect((await reseller.http.get(`${base(other)}/${(await one('CLOUD')).id}`)).status).toBe(404);
    expect((await reseller.http.get(`${base(client)}/7`)).status).toBe(404);
    expect((await reseller.http.get(`${base({ clientId: 999_999 })}`)).status).toBe(404);
  });
});
