import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const PATH = '/cloud/v1/request_log';
const of = async (requestId: string | null, http = service.http) => {
  const answer = await http.get(`${PATH}?request_id=${requestId}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results;
};

it('shows who made what, from where, in which request', async () => {
  const made = await service.http.request('POST', '/gcore/cloud/v1/securitygroups/1/1?', {
    body: { security_group: { name: 'shown' } },
    headers: { 'user-agent': 'test/1', 'x-forwarded-for': '192.0.2.1' },
  });
  const [action, ...more] = await of(made.headers.get('x-request-id'));
  expect(more).toEqual([]);
  expect(action).toEqual({
    id: expect.any(Number),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    operation: 'createSecurityGroup',
    method: 'POST',
    path: '/gcore/cloud/v1/securitygroups/1/1',
    outcome: 'accepted',
    status: 200,
    client_id: 1,
    user_id: 1,
    email: expect.stringContaining('@'),
    token_id: 1,
    project_id: 1,
    region_id: 1,
    task_id: null,
    request_id: made.headers.get('x-request-id'),
    source_user_ip: '127.0.0.1',
    user_agent: 'test/1',
  });
});

it('names the task that was started', async () => {
  const made = await service.http.post('/cloud/v1/networks/1/1', { name: 'with-task' });
  const [action] = await of(made.headers.get('x-request-id'));
  expect(action).toMatchObject({ operation: 'createNetwork', task_id: made.body[0], outcome: 'accepted' });
});

it('is written in the transaction of the work', async () => {
  const made = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'same-transaction' });
  const { rows } = await service.pool.query(
    'select a.xmin = k.xmin as same from user_actions a, ssh_keys k where a.request_id = $1 and k.id = $2',
    [made.headers.get('x-request-id'), made.body.id],
  );
  expect(rows).toEqual([{ same: true }]);
});

it.each([
  ['invalid', 'POST', '/cloud/v1/projects', { name: '!' }, 400],
  ['not there', 'DELETE', '/cloud/v1/networks/1/1/00000000-0000-4000-8000-000000000000', undefined, 404],
  ['in use', 'DELETE', '/cloud/v1/projects/1', undefined, 409],
] as const)('notes a refused change that is %s', async (_why, method, path, body, status) => {
  const answer = await service.http.request(method, path, { body });
  expect(answer.status).toBe(status);
  const actions = await of(answer.headers.get('x-request-id'));
  expect(actions).toHaveLength(1);
  expect(actions[0]).toMatchObject({ outcome: 'refused', status, method, path });
});

it('notes what a role may not do, under who tried', async () => {
  const user = await service.withRole('Users');
  const answer = await user.post('/cloud/v1/projects', { name: 'not allowed' });
  expect(answer.status).toBe(403);
  expect(await of(answer.headers.get('x-request-id'))).toMatchObject([{ outcome: 'refused', status: 403 }]);
});

it('shows reads and price previews nowhere', async () => {
  const read = await service.http.get('/cloud/v1/projects');
  const price = await service.http.post('/cloud/v1/pricing/1/1/volumes', { source: 'new-volume', size: 1 });
  expect([read.status, price.status]).toEqual([200, 200]);
  expect(await of(read.headers.get('x-request-id'))).toEqual([]);
  expect(await of(price.headers.get('x-request-id'))).toEqual([]);
});

it('is for administrators, each of their own account', async () => {
  for (const role of ['Users', 'Engineers']) {
    expect((await (await service.withRole(role)).get(PATH)).status).toBe(403);
  }
  expect((await service.anonymous.get(PATH)).status).toBe(401);
  const other = await service.otherTenant();
  const made = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'only mine' });
  expect(await of(made.headers.get('x-request-id'), other.http)).toEqual([]);
});

it("shows an account what the platform's administrator did in its project", async () => {
  const other = await service.otherTenant();
  const made = await service.http.post(`/cloud/v1/ssh_keys/${other.projectId}`, { name: 'by the platform' });
  expect(made.status, made.text).toBe(201);
  expect(await of(made.headers.get('x-request-id'), other.http)).toMatchObject([
    { user_id: 1, email: null, client_id: other.clientId },
  ]);
});

it('filters, orders and pages', async () => {
  const tenant = await service.otherTenant();
  const keys = `/cloud/v1/ssh_keys/${tenant.projectId}`;
  for (const name of ['first', 'second', 'third']) await tenant.http.post(keys, { name });
  await tenant.http.post(keys, { name: 'first' });
  const list = async (query: string) => (await tenant.http.get(`${PATH}?${query}`)).body;

  // A refusal is noted after its answer.
  await expect.poll(async () => (await list('outcome=refused')).count).toBe(1);
  const all = await list('operation=createSshKey&order_by=asc');
  expect(all.results.map(({ status }: { status: number }) => status)).toEqual([201, 201, 201, 409]);
  expect((await list('outcome=refused&outcome=accepted&operation=createSshKey')).count).toBe(4);
  expect((await list('project_id=0')).count).toBe(0);
  expect((await list(`project_id=${tenant.projectId}&operation=createSshKey`)).count).toBe(4);
  expect((await list('region_id=1')).count).toBe(0);
  expect((await list(`user_id=${all.results[0].user_id}&operation=createSshKey`)).count).toBe(4);
  expect(await list('operation=createSshKey&order_by=asc&limit=1&offset=1')).toEqual({
    count: 4,
    results: [all.results[1]],
  });
  expect((await list('from_timestamp=2100-01-01T00:00:00Z')).count).toBe(0);
  expect((await list('to_timestamp=2100-01-01T00:00:00Z&operation=createSshKey')).count).toBe(4);
  expect((await list('from_timestamp=2026-02-31T00:00:00Z')).exception_class).toBe('ValidationError');
});

it('keeps no secrets and no bodies', async () => {
  const made = await service.http.post('/iam/v2/clients/1/tokens', {
    name: 'secret',
    exp_date: null,
    client_user: { role: { name: 'Users' } },
  });
  const [, secret] = String(made.body.token).split('_');
  const { rows } = await service.pool.query('select a::text as text from user_actions a');
  expect(rows.filter(({ text }) => text.includes(secret))).toEqual([]);
});
