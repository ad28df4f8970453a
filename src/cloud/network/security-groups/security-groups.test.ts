import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/cloud/v1/securitygroups/1/1';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/;

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const create = (securityGroup: object, instances?: string[]) =>
  service.http.post(BASE, { security_group: securityGroup, ...(instances && { instances }) });
const uniqueName = () => `group ${randomUUID().slice(0, 8)}`;

describe('creating a group', () => {
  it('answers the canonical form, and the next read shows the same', async () => {
    const name = uniqueName();
    const created = await create({
      name,
      description: 'Front end',
      tags: { env: ' production ' },
      security_group_rules: [
        { direction: 'ingress', ethertype: 'IPv6', protocol: 'icmp' },
        {
          direction: 'ingress',
          protocol: 'tcp',
          port_range_min: 443,
          port_range_max: 443,
          remote_ip_prefix: '10.0.0.1',
        },
      ],
    });
    expect(created.status, created.text).toBe(200);
    expect(created.body).toMatchObject({
      name,
      description: 'Front end',
      project_id: 1,
      region_id: 1,
      tags_v2: [{ key: 'env', value: 'production', read_only: false }],
      created_at: expect.stringMatching(TIME),
      updated_at: expect.stringMatching(TIME),
    });
    const [icmp, https, ...egress] = created.body.security_group_rules;
    expect(icmp).toMatchObject({ protocol: 'ipv6-icmp', remote_ip_prefix: null, remote_group_id: [] });
    expect(https).toMatchObject({ remote_ip_prefix: '10.0.0.1/32', ethertype: 'IPv4' });
    expect(egress).toMatchObject([
      { direction: 'egress', ethertype: 'IPv4', protocol: null },
      { direction: 'egress', ethertype: 'IPv6', protocol: null },
    ]);
    const read = await service.http.get(`${BASE}/${created.body.id}`);
    expect(read.body).toEqual(created.body);
  });

  it('names a remote group in the form of each dialect', async () => {
    const remote = await create({ name: uniqueName() });
    const created = await create({
      name: uniqueName(),
      security_group_rules: [{ direction: 'ingress', remote_group_id: remote.body.id }],
    });
    expect(created.body.security_group_rules[0].remote_group_id).toEqual([remote.body.id]);
    const asClient = await service.http.get(`/gcore${BASE}/${created.body.id}`);
    expect(asClient.body.security_group_rules[0].remote_group_id).toBe(remote.body.id);
    expect(asClient.body.security_group_rules[1].remote_group_id).toBeNull();
  });

  it.each([
    ['a name that is too short', { name: 'ab' }, 'security_group.name'],
    ['a name with a trailing space', { name: 'web ' }, 'security_group.name'],
    ['no name', {}, 'security_group.name'],
    ['an unknown field', { name: 'valid', colour: 'red' }, 'security_group.colour'],
    [
      'ports without a protocol',
      {
        name: 'valid',
        security_group_rules: [{ direction: 'ingress', port_range_min: 1, port_range_max: 2 }],
      },
      'security_group.security_group_rules.0.port_range_min',
    ],
    ['a tag key with a space', { name: 'valid', tags: { 'a b': 'c' } }, 'security_group.tags.a b'],
    ['NUL in a text', { name: 'valid', description: 'a\0b' }, 'security_group.description'],
    [
      '251 rules',
      {
        name: 'valid',
        security_group_rules: Array.from({ length: 251 }, (_, port) => ({
          direction: 'ingress',
          protocol: 'tcp',
          port_range_min: port + 1,
          port_range_max: port + 1,
        })),
      },
      'security_group.security_group_rules',
    ],
  ])('refuses %s and names the field', async (_, group, field) => {
    const { status, body } = await create(group);
    expect(status).toBe(400);
    expect(body).toMatchObject({ exception_class: 'ValidationError', request_id: expect.any(String) });
    expect(Object.keys(body.invalid_fields)).toContain(field);
  });

  it('takes 250 rules', async () => {
    const security_group_rules = Array.from({ length: 250 }, (_, port) => ({
      direction: 'ingress',
      protocol: 'tcp',
      port_range_min: port + 1,
      port_range_max: port + 1,
    }));
    const { status, body } = await create({ name: uniqueName(), security_group_rules });
    expect(status).toBe(200);
    expect(body.security_group_rules).toHaveLength(252);
  });

  it('refuses a taken name and the name of the default group with 409', async () => {
    const name = uniqueName();
    await create({ name });
    const again = await create({ name });
    expect(again.status).toBe(409);
    expect(again.body.exception_class).toBe('ConflictError');
    expect((await create({ name: 'Default' })).status).toBe(409);
  });

  it('refuses the same rule twice with 409', async () => {
    const rule = { direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80 };
    const { status, body } = await create({
      name: uniqueName(),
      security_group_rules: [rule, { ...rule, remote_ip_prefix: '0.0.0.0/0', description: 'again' }],
    });
    expect(status).toBe(409);
    expect(body.message).toContain('security_group_rules.1');
  });

  it('refuses an unknown remote group with 404 and an unknown instance with 400', async () => {
    const unknown = randomUUID();
    const remote = await create({
      name: uniqueName(),
      security_group_rules: [{ direction: 'ingress', remote_group_id: unknown }],
    });
    expect(remote.status).toBe(404);
    expect(remote.body.message).toContain(unknown);
    const instance = await create({ name: uniqueName() }, [unknown]);
    expect(instance.status).toBe(400);
    expect(Object.keys(instance.body.invalid_fields)).toEqual(['instances.0']);
  });

  it('leaves nothing behind when it is refused', async () => {
    const name = uniqueName();
    await create({ name, security_group_rules: [{ direction: 'ingress', remote_group_id: randomUUID() }] });
    expect((await service.http.get(`${BASE}?name=${encodeURIComponent(name)}`)).body.count).toBe(0);
  });

  it('answers 415 for another content type, 413 for a body over the limit, 400 for broken JSON', async () => {
    const options = { raw: '{"security_group":{"name":"valid"}}', headers: { 'content-type': 'text/plain' } };
    expect((await service.http.request('POST', BASE, options)).status).toBe(415);
    expect((await service.http.request('POST', BASE, { raw: `"${'x'.repeat(1_100_000)}"` })).status).toBe(413);
    expect((await service.http.request('POST', BASE, { raw: '{"security_group":' })).status).toBe(400);
  });
});

describe('listing groups', () => {
  it('filters by whole name and by tags, and counts all matches', async () => {
    const name = uniqueName();
    const tag = randomUUID();
    await create({ name, tags: { [tag]: 'yes', other: 'x' } });
    await create({ name: `${name} b`, tags: { [tag]: 'no' } });
    const names = async (query: string) =>
      (await service.http.get(`${BASE}?${query}`)).body.results.map((group: { name: string }) => group.name);
    expect(await names(`name=${encodeURIComponent(name)}`)).toEqual([name]);
    expect(await names(`tag_key=${tag}`)).toEqual([`${name} b`, name]);
    expect(await names(`tag_key=${tag}&tag_key=other`)).toEqual([name]);
    expect(await names(`tag_key_value=${encodeURIComponent(JSON.stringify({ [tag]: 'no' }))}`)).toEqual([`${name} b`]);
    const page = await service.http.get(`${BASE}?tag_key=${tag}&limit=1&offset=1`);
    expect(page.body).toMatchObject({ count: 2, results: [{ name }] });
    expect((await service.http.get(`${BASE}?tag_key=${tag}&offset=5`)).body).toEqual({
      count: 2,
      results: [],
    });
  });

  it.each(['limit=0', 'limit=1001', 'offset=-1', 'limit=x', 'colour=red', 'tag_key_value=[]'])(
    'refuses ?%s',
    async (query) => {
      expect((await service.http.get(`${BASE}?${query}`)).status).toBe(400);
    },
  );
});

describe('deleting a group', () => {
  it('answers 204, and 404 from then on', async () => {
    const { body } = await create({ name: uniqueName() });
    expect((await service.http.delete(`${BASE}/${body.id}`)).status).toBe(204);
    expect((await service.http.delete(`${BASE}/${body.id}`)).status).toBe(404);
    expect((await service.http.get(`${BASE}/${body.id}`)).status).toBe(404);
  });

  it('is refused with 409 while a rule of another group names it', async () => {
    const remote = await create({ name: uniqueName() });
    const user = await create({
      name: uniqueName(),
      security_group_rules: [{ direction: 'ingress', remote_group_id: remote.body.id }],
    });
    const refused = await service.http.delete(`${BASE}/${remote.body.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(user.body.id);
  });
});

describe('who may do what', () => {
  it('shows another tenant nothing but 404', async () => {
    const { body } = await create({ name: uniqueName() });
    const { http, projectId } = await service.otherTenant();
    expect((await http.get(`${BASE}/${body.id}`)).status).toBe(404);
    expect((await http.get(BASE)).status).toBe(404);
    expect((await http.delete(`${BASE}/${body.id}`)).status).toBe(404);
    expect((await http.post(BASE, { security_group: { name: 'valid' } })).status).toBe(404);
    expect((await http.get(`/cloud/v1/securitygroups/${projectId}/1/${body.id}`)).status).toBe(404);
  });

  it('lets Users read and no more', async () => {
    const reader = await service.withRole('Users');
    expect((await reader.get(BASE)).status).toBe(200);
    expect((await reader.post(BASE, { security_group: { name: 'valid' } })).status).toBe(403);
  });

  it('answers 404 for an unknown project, region and a malformed id', async () => {
    for (const path of ['/cloud/v1/securitygroups/999/1', '/cloud/v1/securitygroups/1/999', `${BASE}/not-a-uuid`]) {
      expect((await service.http.get(path)).status).toBe(404);
    }
  });
});
