import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/cloud/v1/securitygroups/1/1';
const RULES = '/cloud/v1/securitygrouprules/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const uniqueName = () => `group ${randomUUID().slice(0, 8)}`;
const tcp = (port: number, more: object = {}) => ({
  direction: 'ingress',
  protocol: 'tcp',
  port_range_min: port,
  port_range_max: port,
  ...more,
});
async function made(given: object = {}) {
  const answer = await service.http.post(BASE, { security_group: { name: uniqueName(), ...given } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const read = async (id: string) => (await service.http.get(`${BASE}/${id}`)).body;
async function defaultGroup() {
  return (await service.http.get(`${BASE}?name=default`)).body.results[0];
}

describe('adding a rule', () => {
  it('answers the canonical rule, which the group then has, as one revision', async () => {
    const group = await made();
    const added = await service.http.post(`${BASE}/${group.id}/rules`, tcp(22, { remote_ip_prefix: '10.0.0.1' }));
    expect(added.status, added.text).toBe(200);
    expect(added.body).toMatchObject({
      security_group_id: group.id,
      remote_ip_prefix: '10.0.0.1/32',
      remote_group_id: [],
      revision_number: 0,
    });
    const after = await read(group.id);
    expect(after.revision_number).toBe(group.revision_number + 1);
    expect(after.security_group_rules).toEqual([...group.security_group_rules, added.body]);
  });

  it('refuses a rule that is there with 409 that names it, and changes nothing', async () => {
    const group = await made({ security_group_rules: [tcp(22)] });
    const twin = await service.http.post(
      `${BASE}/${group.id}/rules`,
      tcp(22, { description: 'again', remote_ip_prefix: '0.0.0.0/0' }),
    );
    expect(twin.status).toBe(409);
    expect(twin.body.message).toContain(group.security_group_rules[0].id);
    expect(await read(group.id)).toEqual(group);
  });

  it.each([
    [400, 'a port without a protocol', { direction: 'ingress', port_range_min: 1, port_range_max: 1 }],
    [400, 'no direction', { protocol: 'tcp' }],
    [404, 'an unknown remote group', { direction: 'ingress', remote_group_id: randomUUID() }],
  ])('answers %i for %s', async (status, _, rule) => {
    const { id } = await made();
    expect((await service.http.post(`${BASE}/${id}/rules`, rule)).status).toBe(status);
    expect((await service.http.post(`${BASE}/${randomUUID()}/rules`, tcp(1))).status).toBe(404);
  });

  it('takes the group in the body as well, as older clients send it', async () => {
    const group = await made();
    const add = (port: number, security_group_id: string, base = '/gcore') =>
      service.http.post(`${base}${BASE}/${group.id}/rules`, tcp(port, { security_group_id }));
    const added = await add(443, group.id.toUpperCase());
    expect(added.status, added.text).toBe(200);
    expect(added.body).toMatchObject({ security_group_id: group.id, port_range_min: 443 });
    expect(added.headers.get('tradewind-ignored')).toBeNull();

    const other = await made();
    for (const refused of [await add(80, other.id), await add(80, group.id, '')]) {
      expect(refused.status, refused.text).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual(['security_group_id']);
    }
    expect((await read(other.id)).security_group_rules).toEqual(other.security_group_rules);
    expect((await read(group.id)).security_group_rules).toHaveLength(group.security_group_rules.length + 1);
  });

  it('names the field of a fault as it stands in the body', async () => {
    const { id } = await made();
    const { body } = await service.http.post(`${BASE}/${id}/rules`, {
      direction: 'ingress',
      port_range_min: 1,
    });
    expect(Object.keys(body.invalid_fields)).toEqual(['port_range_min']);
  });

  it('holds at most as many rules as a creation can make', async () => {
    const security_group_rules = Array.from({ length: 250 }, (_, port) => tcp(port + 1));
    const { id } = await made({ security_group_rules });
    const refused = await service.http.post(`${BASE}/${id}/rules`, tcp(1000));
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('252');
  });

  it('lets one of many that add the same rule at once win', async () => {
    const group = await made();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => service.http.post(`${BASE}/${group.id}/rules`, tcp(80))),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)]);
    expect((await read(group.id)).revision_number).toBe(group.revision_number + 1);
  });

  it('keeps every rule of many that add different ones at once', async () => {
    const group = await made();
    const ports = [1, 2, 3, 4, 5, 6, 7, 8];
    await Promise.all(ports.map((port) => service.http.post(`${BASE}/${group.id}/rules`, tcp(port))));
    const after = await read(group.id);
    expect(after.revision_number).toBe(group.revision_number + ports.length);
    expect(after.security_group_rules).toHaveLength(group.security_group_rules.length + ports.length);
  });
});

describe('replacing a rule', () => {
  it('keeps its id and raises its revision and that of the group', async () => {
    const group = await made({ security_group_rules: [tcp(22, { description: 'SSH' }), tcp(80)] });
    const [ssh] = group.security_group_rules;
    const replaced = await service.http.put(`${RULES}/${ssh.id}`, tcp(2222, { ethertype: null }));
    expect(replaced.status, replaced.text).toBe(200);
    expect(replaced.body).toMatchObject({
      id: ssh.id,
      port_range_min: 2222,
      description: '',
      revision_number: 1,
    });
    const after = await read(group.id);
    expect(after.revision_number).toBe(group.revision_number + 1);
    expect(after.security_group_rules[0]).toEqual(replaced.body);
    expect(after.security_group_rules.slice(1)).toEqual(group.security_group_rules.slice(1));
  });

  it('changes nothing when the rule is so already', async () => {
    const group = await made({ security_group_rules: [tcp(22)] });
    const [ssh] = group.security_group_rules;
    const body = tcp(22, { security_group_id: group.id });
    expect((await service.http.put(`${RULES}/${ssh.id}`, body)).body).toEqual(ssh);
    expect(await read(group.id)).toEqual(group);
  });

  it('refuses the form of another rule, another group and an unknown rule', async () => {
    const group = await made({ security_group_rules: [tcp(22), tcp(80)] });
    const [ssh, http] = group.security_group_rules;
    const twin = await service.http.put(`${RULES}/${ssh.id}`, tcp(80));
    expect(twin.status).toBe(409);
    expect(twin.body.message).toContain(http.id);
    const move = await service.http.put(`${RULES}/${ssh.id}`, tcp(1, { security_group_id: randomUUID() }));
    expect(move.status).toBe(400);
    expect(Object.keys(move.body.invalid_fields)).toEqual(['security_group_id']);
    expect((await service.http.put(`${RULES}/${randomUUID()}`, tcp(1))).status).toBe(404);
    expect((await service.http.put(`${RULES}/no-uuid`, tcp(1))).status).toBe(404);
  });
});

describe('deleting a rule', () => {
  it('answers 204, then 404, as one revision', async () => {
    const group = await made({ security_group_rules: [tcp(22), tcp(80)] });
    const [ssh, ...others] = group.security_group_rules;
    expect((await service.http.delete(`${RULES}/${ssh.id}`)).status).toBe(204);
    expect((await service.http.delete(`${RULES}/${ssh.id}`)).status).toBe(404);
    const after = await read(group.id);
    expect(after.security_group_rules).toEqual(others);
    expect(after.revision_number).toBe(group.revision_number + 1);
  });
});

describe('updating a group', () => {
  it('removes and adds rules, renames and merges tags as one revision', async () => {
    const group = await made({
      security_group_rules: [tcp(22), tcp(80)],
      tags: { env: 'production', owner: 'a', keep: 'x' },
    });
    const [ssh, http] = group.security_group_rules;
    const name = uniqueName();
    const updated = await service.http.patch(`${BASE}/${group.id}`, {
      name,
      changed_rules: [
        { action: 'create', ...tcp(443) },
        { action: 'create', ...tcp(22, { description: 'anew' }) },
        { action: 'delete', security_group_rule_id: ssh.id },
      ],
      tags: { env: 'staging', owner: null },
    });
    expect(updated.status, updated.text).toBe(200);
    expect(updated.body).toMatchObject({ name, revision_number: group.revision_number + 1 });
    const ids = updated.body.security_group_rules.map(({ id }: { id: string }) => id);
    expect(ids).toContain(http.id);
    expect(ids).not.toContain(ssh.id);
    expect(ids).toHaveLength(5);
    const tags = updated.body.tags_v2.map(({ key, value }: { key: string; value: string }) => [key, value]);
    expect(Object.fromEntries(tags)).toEqual({ env: 'staging', keep: 'x' });
    expect(await read(group.id)).toEqual(updated.body);
  });

  it('keeps the revision when nothing changes, and drops all tags for null', async () => {
    const group = await made({ tags: { env: 'production' } });
    for (const body of [{}, { name: group.name, tags: {}, changed_rules: [] }]) {
      expect((await service.http.patch(`${BASE}/${group.id}`, body)).body).toEqual(group);
    }
    expect((await service.http.patch(`${BASE}/${group.id}`, { tags: null })).body).toMatchObject({
      tags_v2: [],
      revision_number: group.revision_number + 1,
    });
  });

  it('does all of it or nothing, and names what is wrong', async () => {
    const group = await made({ security_group_rules: [tcp(22)] });
    const patch = (body: object) => service.http.patch(`${BASE}/${group.id}`, body);
    const add = { action: 'create', ...tcp(443) };
    const unknown = await patch({
      changed_rules: [add, { action: 'delete', security_group_rule_id: randomUUID() }],
    });
    expect(unknown.status).toBe(400);
    expect(Object.keys(unknown.body.invalid_fields)).toEqual(['changed_rules.1.security_group_rule_id']);
    const bad = await patch({
      changed_rules: [
        { action: 'delete', security_group_rule_id: group.id },
        { ...add, protocol: 'ah' },
      ],
    });
    expect(Object.keys(bad.body.invalid_fields)).toEqual(['changed_rules.1.port_range_min']);
    const twice = await patch({ changed_rules: [add, add] });
    expect(twice.status).toBe(409);
    expect(twice.body.message).toContain('changed_rules.1 is the same rule as changed_rules.0');
    const there = await patch({ name: uniqueName(), changed_rules: [add, { action: 'create', ...tcp(22) }] });
    expect(there.status).toBe(409);
    expect(there.body.message).toContain(group.security_group_rules[0].id);
    expect((await patch({ changed_rules: Array(501).fill(add) })).status).toBe(400);
    expect((await patch({ name: (await made()).name })).status).toBe(409);
    expect(await read(group.id)).toEqual(group);
  });

  it('takes 500 changes', async () => {
    const group = await made({
      security_group_rules: Array.from({ length: 250 }, (_, port) => tcp(port + 1)),
    });
    const ingress = group.security_group_rules.filter((rule: { direction: string }) => rule.direction === 'ingress');
    const changed_rules = [
      ...ingress.map(({ id }: { id: string }) => ({ action: 'delete', security_group_rule_id: id })),
      ...Array.from({ length: 250 }, (_, port) => ({ action: 'create', ...tcp(port + 1001) })),
    ];
    const updated = await service.http.patch(`${BASE}/${group.id}`, { changed_rules });
    expect(updated.status, updated.text).toBe(200);
    expect(updated.body.security_group_rules).toHaveLength(252);
    expect(updated.body.revision_number).toBe(group.revision_number + 1);
  });

  it('leaves the default group its name, and nobody else takes it', async () => {
    const group = await defaultGroup();
    const renamed = await service.http.patch(`${BASE}/${group.id}`, { name: 'other' });
    expect(renamed.status).toBe(409);
    expect(renamed.body.message).toContain('renamed');
    expect((await service.http.delete(`${BASE}/${group.id}`)).status).toBe(409);
    const { id } = await made();
    expect((await service.http.patch(`${BASE}/${id}`, { name: 'Default' })).status).toBe(409);
    expect((await service.http.post(`${BASE}/${id}/copy`, { name: 'DEFAULT' })).status).toBe(409);
  });
});

describe('copying a group', () => {
  it('makes a group with the same rules under ids of their own', async () => {
    const remote = await made();
    const group = await made({
      description: 'Front end',
      tags: { env: 'production' },
      security_group_rules: [tcp(22, { description: 'SSH', remote_group_id: remote.id })],
    });
    const name = uniqueName();
    const copy = await service.http.post(`${BASE}/${group.id}/copy`, { name });
    expect(copy.status, copy.text).toBe(200);
    expect(copy.body).toMatchObject({
      name,
      description: 'Front end',
      tags_v2: group.tags_v2,
      revision_number: 1,
    });
    const meaning = ({ id, security_group_id, created_at, updated_at, ...rule }: Record<string, unknown>) => rule;
    expect(copy.body.security_group_rules.map(meaning)).toEqual(group.security_group_rules.map(meaning));
    expect(await read(copy.body.id)).toEqual(copy.body);
    expect((await service.http.post(`${BASE}/${group.id}/copy`, { name })).status).toBe(409);
    expect((await service.http.post(`${BASE}/${randomUUID()}/copy`, { name: uniqueName() })).status).toBe(404);
  });

  it('can copy the default group, into one that can be deleted', async () => {
    const source = await defaultGroup();
    const copy = await service.http.post(`${BASE}/${source.id}/copy`, { name: uniqueName() });
    expect(copy.body.security_group_rules).toHaveLength(source.security_group_rules.length);
    expect((await service.http.delete(`${BASE}/${copy.body.id}`)).status).toBe(204);
  });
});

describe('reverting a group', () => {
  it('restores the rules of a default group and keeps those that are right', async () => {
    const group = await defaultGroup();
    const [kept, removed] = group.security_group_rules;
    await service.http.delete(`${RULES}/${removed.id}`);
    await service.http.post(`${BASE}/${group.id}/rules`, tcp(8443));
    const reverted = await service.http.post(`${BASE}/${group.id}/revert`);
    expect(reverted.status, reverted.text).toBe(200);
    expect(reverted.body.revision_number).toBe(group.revision_number + 3);
    const rules = reverted.body.security_group_rules;
    expect(rules).toHaveLength(10);
    expect(rules.map(({ id }: { id: string }) => id)).toContain(kept.id);
    expect(rules.some((rule: { port_range_min: number }) => rule.port_range_min === 8443)).toBe(false);
    const again = await service.http.post(`${BASE}/${group.id}/revert`);
    expect(again.body).toEqual(reverted.body);
  });
});

describe('who may change a group', () => {
  it('refuses Users and shows another tenant nothing', async () => {
    const group = await made({ security_group_rules: [tcp(22)] });
    const [rule] = group.security_group_rules;
    const reader = await service.withRole('Users');
    const { http: other, projectId } = await service.otherTenant();
    const calls = [
      ['POST', `/${group.id}/rules`, tcp(1)],
      ['PATCH', `/${group.id}`, { tags: null }],
      ['POST', `/${group.id}/copy`, { name: 'copied' }],
    ] as const;
    for (const [method, path, body] of calls) {
      expect((await reader.request(method, BASE + path, { body })).status).toBe(403);
      const foreign = `/cloud/v1/securitygroups/${projectId}/1${path}`;
      expect((await other.request(method, foreign, { body })).status).toBe(404);
    }
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: tcp(1) } : {};
      const foreign = `/cloud/v1/securitygrouprules/${projectId}/1/${rule.id}`;
      expect((await other.request(method, foreign, body)).status).toBe(404);
    }
    expect(await read(group.id)).toEqual(group);
  });
});
