import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { newPerson, type Person } from '../../../test/support/logins.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';
import { OPERATIONS_THAT_GIVE_RIGHTS } from '../../requests/principal.ts';

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

it('makes no tokens, logins and users, which would be free of its bounds', async () => {
  const operations = ['create*', 'invite*', 'login*', 'update*', 'get*'];
  const { body } = await owner.http.post(TOKENS(), asked({ operations }));
  const http = createHttpClient(service.url, body.token);
  const made = await http.post(TOKENS(), asked({}));
  expect([made.status, made.text]).toEqual([403, expect.stringContaining('no other tokens')]);
  const invited = await http.post('/iam/clients/invite_user', {
    client_id: owner.clientId,
    email: 'mallory@example.com',
    user_role: { id: 1 },
  });
  expect([invited.status, invited.text]).toEqual([403, expect.stringContaining('users')]);
  expect(await statusOf(http.get(`/iam/auth/jwt/users/${owner.userId}/token`))).toBe(403);
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

/** Operations on users, logins and rights that give nobody a credential or more rights. */
const HARMLESS = [
  'acceptInvitation',
  'deleteApiToken',
  'deleteApiTokenV1',
  'deleteReseller',
  'deleteSeller',
  'deleteUser',
  'forgotPassword',
  'login',
  'readMailedLink',
  'refreshLogin',
  'removeClientUser',
  'setForgottenPassword',
  // Only for a person who has just given the password.
  ...['addPasskey', 'confirmTotp', 'getPasskeyOptions', 'makeRecoveryCodes', 'removeSecondFactor', 'setUpTotp'],
  ...['enrolForLogin', 'getPasskeyLoginOptions', 'logInWithSecondFactor'],
  ...['endOwnLogin', 'endOwnLogins'],
];

it('is told from every operation on users, logins and rights', async () => {
  const { body } = await service.anonymous.get('/openapi.json');
  const all = Object.values<Record<string, { operationId: string; tags: string[] }>>(body.paths).flatMap((one) =>
    Object.entries(one).flatMap(([method, { operationId, tags }]) => (method === 'get' ? [] : [{ operationId, tags }])),
  );
  const about = /^(users|api tokens|logins|role assignments|sellers|second factors|single sign-on)$/i;
  const changing = all.filter(({ tags: [tag = ''] }) => about.test(tag)).map(({ operationId }) => operationId);
  expect(changing.length).toBeGreaterThan(20);
  const judged = [...OPERATIONS_THAT_GIVE_RIGHTS, ...HARMLESS];
  expect(changing.filter((one) => !judged.includes(one))).toEqual([]);
  expect(OPERATIONS_THAT_GIVE_RIGHTS.filter((one) => !all.some(({ operationId }) => operationId === one))).toEqual([]);
});

it('lets nobody in at the previous release, which knows no bounds', async () => {
  const { body } = await owner.http.post(TOKENS(), asked({ project_id: first }));
  const { rows } = await service.pool.query(
    'select secret_hash = sha256($2::bytea) as known from api_tokens where id = $1',
    [body.id, Buffer.from(body.token.split('_')[1])],
  );
  expect(rows).toEqual([{ known: false }]);
});
