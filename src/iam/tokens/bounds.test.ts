import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { newPerson, type Person } from '../../../test/support/logins.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let owner: Person;
let [first, second] = [0, 0];
beforeAll(async () => {
  service = await borrowService();
  owner = await newPerson(service.http);
  first = (await owner.http.get('/cloud/v1/projects')).body.results[0].id;
  second = (await owner.http.post('/cloud/v1/projects', { name: 'Second' })).body.id;
});
afterAll(() => service?.stop());

const TOKENS = () => `/iam/v2/clients/${owner.clientId}/tokens`;
const asked = (bounds: object, role = 1) => ({
  name: 'Bound',
  exp_date: null,
  client_user: { role: { id: role } },
  ...bounds,
});
async function tokenWith(bounds: object, role = 1): Promise<HttpClient> {
  const made = await owner.http.post(TOKENS(), asked(bounds, role));
  expect(made.status, made.text).toBe(200);
  expect(made.body.bounds).toEqual({ project_id: null, operations: null, address_ranges: null, ...bounds });
  expect((await owner.http.get(`${TOKENS()}/${made.body.id}`)).body.bounds).toEqual(made.body.bounds);
  return createHttpClient(service.url, made.body.token);
}
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status;

describe('a token of one project', () => {
  it('works there with the rights of its role, and nowhere else', async () => {
    const http = await tokenWith({ project_id: first });
    expect(await statusOf(http.post(`/cloud/v1/securitygroups/${first}/1`, { security_group: { name: 'mine' } }))).toBe(
      200,
    );
    expect(await statusOf(http.get(`/cloud/v1/securitygroups/${second}/1`))).toBe(404);
    const { body } = await http.get('/cloud/v1/projects');
    expect(body.results.map(({ id }: { id: number }) => id)).toEqual([first]);
    for (const path of ['/iam/clients/me', '/iam/users', TOKENS(), '/streaming/ai/tasks', '/cloud/v2/client_quotas']) {
      const refused = await http.get(path);
      expect([refused.status, refused.text], path).toEqual([403, expect.stringContaining(`project ${first} only`)]);
    }
    expect(await statusOf(http.post('/cloud/v1/projects', { name: 'Third' }))).toBe(403);
  });

  it('has no more rights there than its role', async () => {
    const http = await tokenWith({ project_id: first }, 2);
    expect(await statusOf(http.get(`/cloud/v1/securitygroups/${first}/1`))).toBe(200);
    expect(await statusOf(http.post(`/cloud/v1/securitygroups/${first}/1`, { security_group: { name: 'no' } }))).toBe(
      403,
    );
  });

  it('of the platform administrator is nobody special elsewhere', async () => {
    const body = { ...asked({ project_id: 1 }), client_user: { role: { id: 1 } } };
    const made = await service.http.post('/iam/v2/clients/1/tokens', body);
    const http = createHttpClient(service.url, made.body.token);
    expect(await statusOf(http.get('/cloud/v1/securitygroups/1/1'))).toBe(200);
    expect(await statusOf(http.get(`/cloud/v1/securitygroups/${first}/1`))).toBe(404);
    expect(await statusOf(http.get('/tradewind/v1/resellers'))).toBe(403);
    expect(await statusOf(http.get('/tradewind/v1/platform/processes'))).toBe(403);
  });
});

describe('a token of some operations', () => {
  it('may call these, in all projects, and no others', async () => {
    const http = await tokenWith({ operations: ['listSecurityGroups', 'get*'] });
    expect(await statusOf(http.get(`/cloud/v1/securitygroups/${first}/1`))).toBe(200);
    expect(await statusOf(http.get(`/cloud/v1/securitygroups/${second}/1`))).toBe(200);
    expect(await statusOf(http.get(`/gcore/cloud/v1/securitygroups/${second}/1`))).toBe(200);
    expect(await statusOf(http.get('/iam/clients/me'))).toBe(200);
    const refused = await http.get('/cloud/v1/projects');
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('not good for listProjects')]);
    const { body } = await http.get('/tradewind/v1/permissions');
    expect(body.refused.map(({ operation }: { operation: string }) => operation)).toContain('createInstance');
  });
});

describe('a token of some addresses', () => {
  it('works from these', async () => {
    const near = await tokenWith({ address_ranges: ['127.0.0.0/8', '2001:db8::/32'] });
    expect(await statusOf(near.get('/cloud/v1/projects'))).toBe(200);
    const far = await tokenWith({ address_ranges: ['192.0.2.0/24'] });
    const refused = await far.get('/cloud/v1/projects');
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('may not be used from 127.0.0.1')]);
  });
});

it('makes no tokens and no logins, which would be free of its bounds', async () => {
  const { body } = await owner.http.post(TOKENS(), asked({ operations: ['createApiToken', 'enterAccount*', 'get*'] }));
  const http = createHttpClient(service.url, body.token);
  const made = await http.post(TOKENS(), asked({}));
  expect([made.status, made.text]).toEqual([403, expect.stringContaining('no other tokens')]);
  const entered = await service.anonymous.post('/iam/auth/console/exchange', { token: body.token });
  expect(entered.status, entered.text).toBe(403);
});

it.each([
  [{ project_id: 999_999 }, 'project_id'],
  [{ project_id: 1 }, 'project_id'],
  [{ operations: ['listSecurityGroups', 'mineBitcoins'] }, 'operations'],
  [{ operations: [] }, 'operations'],
  [{ operations: ['*'] }, 'operations'],
  [{ address_ranges: ['192.0.2.1/24'] }, 'address_ranges'],
  [{ address_ranges: ['example.com'] }, 'address_ranges'],
])('refuses %j', async (bounds, field) => {
  const refused = await owner.http.post(TOKENS(), asked(bounds));
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(field)]);
});
