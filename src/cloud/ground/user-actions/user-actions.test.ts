import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const PATH = '/cloud/v1/user_actions';
interface Action {
  id: string;
  api_group: string;
  action_type: string;
  task_id: string | null;
  resources: { resource_type: string; resource_id: string; search_field: string | null }[];
}
const listed = async (query: string, http = service.http): Promise<{ count: number; results: Action[] }> => {
  const answer = await http.get(`${PATH}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const newest = async () => (await listed('limit=1')).results[0];

it('shows who did what to what, from where and with which token', async () => {
  const made = await service.http.request('POST', '/gcore/cloud/v1/securitygroups/1/1', {
    body: { security_group: { name: 'Shown in the log' } },
    headers: { 'user-agent': 'test/1' },
  });
  expect(await newest()).toEqual({
    id: expect.stringMatching(/^\d+$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
    client_id: 1,
    user_id: 1,
    email: expect.stringContaining('@'),
    project_id: 1,
    region_id: 1,
    api_group: 'securitygroup',
    action_type: 'create',
    action_data: null,
    task_id: null,
    user_agent: 'test/1',
    source_user_ip: '127.0.0.1',
    acknowledged: false,
    is_complete: true,
    total_price: null,
    token_id: 1,
    issued_by_user_id: 1,
    resources: [
      {
        resource_id: made.body.id,
        resource_type: 'securitygroup',
        resource_body: null,
        search_field: 'Shown in the log',
      },
    ],
  });
});

it('names the task, and what it will make', async () => {
  const made = await service.http.post('/cloud/v1/networks/1/1', { name: 'of a task' });
  const task = await service.http.task(made.body[0]);
  expect(await newest()).toMatchObject({
    task_id: task.id,
    api_group: 'network',
    action_type: 'create',
    resources: [{ resource_type: 'network', resource_id: task.created_resources.networks[0] }],
  });
});

it('keeps the name of what is gone, and names what is inside of something first', async () => {
  const group = await service.http.post('/cloud/v1/securitygroups/1/1', {
    security_group: { name: 'soon gone' },
  });
  const groupPath = `/cloud/v1/securitygroups/1/1/${group.body.id}`;
  const rule = await service.http.post(`${groupPath}/rules`, { direction: 'ingress', protocol: 'tcp' });
  await service.http.delete(`/cloud/v1/securitygrouprules/1/1/${rule.body.id}`);
  const inGroup = [
    { resource_type: 'securitygrouprule', resource_id: rule.body.id, search_field: null },
    { resource_type: 'securitygroup', resource_id: group.body.id, search_field: 'soon gone' },
  ];
  const { results } = await listed('limit=2');
  expect(results).toMatchObject([
    { api_group: 'securitygrouprule', action_type: 'delete', resources: inGroup },
    { api_group: 'securitygrouprule', action_type: 'create', resources: inGroup },
  ]);
  expect((await service.http.delete(groupPath)).status).toBe(204);
  expect(await newest()).toMatchObject({
    action_type: 'delete',
    resources: [{ resource_id: group.body.id, search_field: 'soon gone' }],
  });
});

it('has neither refused requests, nor those of other areas', async () => {
  const before = (await listed('')).count;
  expect((await service.http.post('/cloud/v1/networks/1/1', { name: '!' })).status).toBe(400);
  expect((await service.http.delete('/cloud/v1/projects/1')).status).toBe(409);
  expect((await service.http.post('/cloud/v1/tasks/acknowledge_all')).status).toBe(204);
  const token = { name: 'other area', exp_date: null, client_user: { role: { name: 'Users' } } };
  expect((await service.http.post('/iam/v2/clients/1/tokens', token)).status).toBe(200);
  expect((await listed('')).count).toBe(before);
});

it('is for administrators, each of their own account', async () => {
  for (const role of ['Users', 'Engineers']) {
    expect((await (await service.withRole(role)).get(PATH)).status).toBe(403);
  }
  expect((await service.anonymous.get(PATH)).status).toBe(401);
  const other = await service.otherTenant();
  expect(await listed('', other.http)).toEqual({ count: 0, results: [] });
  await service.http.post(`/cloud/v1/ssh_keys/${other.projectId}`, { name: 'by the platform' });
  expect(await listed('', other.http)).toMatchObject({
    count: 1,
    results: [{ client_id: other.clientId, user_id: 1, email: null, api_group: 'ssh_key' }],
  });
});

it('filters, searches, orders and pages', async () => {
  const tenant = await service.otherTenant();
  const keys = `/cloud/v1/ssh_keys/${tenant.projectId}`;
  const ids: string[] = [];
  for (const [index, name] of ['Web one', 'web two', '100%_sure'].entries()) {
    const headers = { 'user-agent': `agent/${index % 2}` };
    ids.push(
      (await tenant.http.request('POST', keys, { body: { name: name.replace(/[%_]/g, '-') }, headers })).body.id,
    );
  }
  await tenant.http.delete(`${keys}/${ids[0]}`);
  await tenant.http.post(`/cloud/v1/securitygroups/${tenant.projectId}/2`, {
    security_group: { name: 'webs' },
  });
  const count = async (query: string, prefix = '') => {
    const answer = await tenant.http.get(`${prefix}${PATH}?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.count;
  };
  expect(await count('')).toBe(5);
  expect(await count('action_type=delete')).toBe(1);
  expect(await count('action_type=delete&action_type=create')).toBe(5);
  expect(await count('api_group=ssh_key')).toBe(4);
  expect(await count('api_group=ssh_key&api_group=securitygroup&action_type=create')).toBe(4);
  expect(await count('api_group=baremetal')).toBe(0);
  expect(await count(`resource_id=${ids[0]}`)).toBe(2);
  expect(await count(`resource_id=${ids[0]}&resource_id=${ids[1]}`)).toBe(3);
  expect(await count('search_field=WEB')).toBe(4);
  expect(await count('search_field=web%20t')).toBe(1);
  expect(await count('search_field=%25')).toBe(0);
  expect(await count('search_field=_')).toBe(0);
  expect(await count('search_field=%5C')).toBe(0);
  expect(await count('source_user_ips=127.0.0.1&source_user_ips=192.0.2.1')).toBe(5);
  expect(await count('source_user_ips=192.0.2.1')).toBe(0);
  expect(await count('user_agents=agent/0')).toBe(2);
  expect(await count('user_agents=agent/0&user_agents=agent/1')).toBe(3);
  expect(await count('region_id=2')).toBe(1);
  expect(await count(`project_id=${tenant.projectId}`)).toBe(5);
  expect(await count('project_id=0')).toBe(0);
  expect(await count('from_timestamp=2100-01-01T00:00:00Z')).toBe(0);
  expect(await count('to_timestamp=2100-01-01T00:00:00Z')).toBe(5);

  const oldest = (await listed('order_by=asc&limit=2&offset=3', tenant.http)).results;
  expect(oldest).toMatchObject([{ action_type: 'delete' }, { api_group: 'securitygroup' }]);
  expect((await listed('limit=2', tenant.http)).results).toEqual(oldest.toReversed());
  expect((await listed('offset=1000000', tenant.http)).results).toEqual([]);
  const older = await tenant.http.get(`/gcore${PATH}?sorting=asc&limit=1`);
  expect(older.body.results[0].resources[0].search_field).toBe('Web one');
});

it.each([
  ['action_type=fly', 'action_type.0'],
  ['api_group=fly', 'api_group.0'],
  ['limit=1001', 'limit'],
  ['from_timestamp=2026-02-31T00:00:00Z', 'from_timestamp'],
  [`search_field=${'x'.repeat(256)}`, 'search_field'],
  [Array.from({ length: 101 }, (_, n) => `resource_id=${n}`).join('&'), 'resource_id'],
  ['sorting=asc', 'sorting'],
])('refuses %s', async (query, field) => {
  const refused = await service.http.get(`${PATH}?${query}`);
  expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, [field]]);
});

it('writes all of it in the transaction of the work, and none when that fails', async () => {
  const made = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'same transaction' });
  const { rows } = await service.pool.query(
    `select a.xmin = k.xmin as same from ssh_keys k
     join user_actions a on a.resource_ids = array[k.id::text] where k.id = $1`,
    [made.body.id],
  );
  expect(rows).toEqual([{ same: true }]);
  const count = async () =>
    (await service.pool.query('select count(*) from user_actions where api_group is not null')).rows[0].count;
  const before = await count();
  expect((await service.http.post('/cloud/v1/ssh_keys/1', { name: 'same transaction' })).status).toBe(409);
  expect(await count()).toBe(before);
});
