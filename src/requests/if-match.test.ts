import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const GROUPS = '/cloud/v1/securitygroups/1/1';

async function makeGroup(): Promise<string> {
  const made = await service.http.post(GROUPS, { security_group: { name: `g-${randomUUID().slice(0, 8)}` } });
  expect(made.status, made.text).toBe(200);
  return `${GROUPS}/${made.body.id}`;
}

const change = (method: string, path: string, etag: string, body?: unknown) =>
  service.http.request(method, path, { body, headers: { 'if-match': etag } });

it('is the revision number of a security group, in every answer that shows the group', async () => {
  const path = await makeGroup();
  const read = await service.http.get(path);
  expect(read.headers.get('etag')).toBe(`"${read.body.revision_number}"`);
  const changed = await change('PATCH', path, read.headers.get('etag') ?? '', { name: 'renamed-once' });
  expect(changed.status, changed.text).toBe(200);
  expect(changed.headers.get('etag')).toBe(`"${changed.body.revision_number}"`);

  const late = await change('PATCH', path, read.headers.get('etag') ?? '', { name: 'renamed-twice' });
  expect(late.status).toBe(412);
  expect(late.body).toMatchObject({ exception_class: 'PreconditionFailedError' });
  expect(late.body.message).toContain(changed.headers.get('etag'));
  expect((await service.http.get(path)).body.name).toBe('renamed-once');
});

it('is none in answers that show something else below the address of the group', async () => {
  const path = await makeGroup();
  const rule = await service.http.post(`${path}/rules`, { direction: 'ingress' });
  expect(rule.status, rule.text).toBe(200);
  expect(rule.headers.get('etag')).toBeNull();
});

it('is refused where nothing has versions, and the change is not made', async () => {
  const path = await makeGroup();
  const rule = (await service.http.get(path)).body.security_group_rules[0].id;
  const refused = await change('DELETE', `/cloud/v1/securitygrouprules/1/1/${rule}`, '"1"');
  expect(refused.status).toBe(400);
  expect(refused.body.invalid_fields).toHaveProperty('If-Match');
  expect((await service.http.get(path)).body.security_group_rules[0].id).toBe(rule);
});

it('says so when only weak tags are given', async () => {
  const refused = await change('PATCH', await makeGroup(), 'W/"1"', { name: 'whatever' });
  expect([refused.status, refused.body.message]).toEqual([412, expect.stringContaining('weak tags only')]);
});

it('counts a rule as a change of its group', async () => {
  const path = await makeGroup();
  const etag = (await service.http.get(path)).headers.get('etag') ?? '';
  const rule = { direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80 };
  const added = await change('POST', `${path.replace('v1/securitygroups', 'v2/security_groups')}/rules`, etag, {
    ...rule,
    protocol: 'tcp',
  });
  expect(added.status, added.text).toBe(200);
  expect((await change('DELETE', path, etag)).status).toBe(412);
  const now = (await service.http.get(path)).headers.get('etag') ?? '';
  expect((await change('DELETE', path, now)).status).toBe(204);
});

it('lets one of many that saw the same version through', async () => {
  const path = await makeGroup();
  const etag = (await service.http.get(path)).headers.get('etag') ?? '';
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => change('PATCH', path, etag, { name: `winner-${n}` })),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 412)).toHaveLength(9);
});

it.each([
  ['*', 200],
  ['"no such version", *', 400],
  ['7', 400],
  ['W/"7"', 412],
])('takes If-Match: %s as it should', async (header, status) => {
  const path = await makeGroup();
  expect((await change('PATCH', path, header, { name: 'whatever' })).status).toBe(status);
});

it.each([
  ['a volume', '/cloud/v1/volumes/1/1', { name: 'disk', size: 1, source: 'new-volume' }, 'volumes'],
  ['a network', '/cloud/v1/networks/1/1', { name: 'net' }, 'networks'],
])('is known of %s, where a change is a new version', async (_what, base, body, kind) => {
  const made = await service.http.post(base, body);
  const task = await service.http.task(made.body[0]);
  const path = `${base}/${task.created_resources[kind][0]}`;
  const etag = (await service.http.get(path)).headers.get('etag') ?? '';
  expect(etag).toMatch(/^"\d+"$/);
  expect((await service.http.get(path)).headers.get('etag')).toBe(etag);
  expect((await change('PATCH', path, etag, { name: 'another name' })).status).toBe(200);
  expect((await service.http.get(path)).headers.get('etag')).not.toBe(etag);
  expect((await change('DELETE', path, etag)).status).toBe(412);
  expect((await change('DELETE', path, (await service.http.get(path)).headers.get('etag') ?? '')).status).toBe(200);
});

it('is known of SSH keys, projects and notification settings', async () => {
  const key = await service.http.post('/cloud/v1/ssh_keys/1', { name: `k-${randomUUID().slice(0, 8)}` });
  const project = await service.http.post('/cloud/v1/projects', { name: `p-${randomUUID().slice(0, 8)}` });
  const settings = '/iam/reselling/resellers/1/notification_settings';
  const input = { notification_type: 'failed_login', email: 'a@example.com' };
  const setting = await service.http.post(settings, input);
  for (const [path, body] of [
    [`/cloud/v1/ssh_keys/1/${key.body.id}`, { shared_in_project: false }],
    [`/cloud/v1/projects/${project.body.id}`, { description: 'new' }],
    [`${settings}/${setting.body.id}`, { ...input, enabled: false }],
  ] as const) {
    const etag = (await service.http.get(path)).headers.get('etag') ?? '';
    expect((await change('PATCH', path, etag, body)).status, path).toBe(200);
    expect((await change('DELETE', path, etag)).status, path).toBe(412);
  }
});

it("says nothing of another account's resource", async () => {
  const other = await service.otherTenant();
  const path = await makeGroup();
  const theirs = await other.http.request('DELETE', path, { headers: { 'if-match': '"0"' } });
  expect(theirs.status).toBe(404);
  const disk = await service.http.post('/cloud/v1/volumes/1/1', {
    name: 'disk',
    size: 1,
    source: 'new-volume',
  });
  const task = await service.http.task(disk.body[0]);
  const read = await other.http.get(`/cloud/v1/volumes/1/1/${task.created_resources.volumes[0]}`);
  expect([read.status, read.headers.get('etag')]).toEqual([404, null]);
});
