import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const V1 = '/cloud/v1/securitygroups/1/1';
const V2 = '/cloud/v2/security_groups/1/1';

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
const read = async (id: string) => (await service.http.get(`${V1}/${id}`)).body;

async function ended(answer: { status: number; text: string; body: string[] }) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  const task = await service.http.task(answer.body[0] ?? '');
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
async function made(given: object = {}) {
  const task = await ended(await service.http.post(V2, { name: uniqueName(), ...given }));
  return read(task.created_resources.security_groups[0]);
}

describe('creating a group', () => {
  it('lets everything in and out without rules, nothing with none, else exactly what is given', async () => {
    const name = uniqueName();
    const task = await ended(
      await service.http.post(V2, { name, description: 'Front end', tags: { env: 'production' } }),
    );
    expect(task).toMatchObject({ task_type: 'create_security_group', data: { name } });
    const open = await read(task.created_resources.security_groups[0]);
    expect(open).toMatchObject({ name, description: 'Front end', tags_v2: [{ key: 'env' }] });
    const forms = open.security_group_rules.map((rule: Record<string, unknown>) => [
      rule.direction,
      rule.ethertype,
      rule.protocol,
    ]);
    expect(forms).toEqual([
      ['ingress', 'IPv4', null],
      ['ingress', 'IPv6', null],
      ['egress', 'IPv4', null],
      ['egress', 'IPv6', null],
    ]);
    expect((await made({ rules: [] })).security_group_rules).toEqual([]);
    expect((await made({ rules: [tcp(22)] })).security_group_rules).toMatchObject([tcp(22)]);
  });

  it('refuses at once what the first version refuses', async () => {
    const { name } = await made();
    expect((await service.http.post(V2, { name })).status).toBe(409);
    expect((await service.http.post(V2, { name: 'default' })).status).toBe(409);
    const any = await service.http.post(V2, { name: uniqueName(), rules: [tcp(1, { protocol: 'any' })] });
    expect(any.status).toBe(400);
    expect(Object.keys(any.body.invalid_fields)).toEqual(['rules.0.protocol']);
    const twice = await service.http.post(V2, { name: uniqueName(), rules: [tcp(1), tcp(1)] });
    expect(twice.status).toBe(409);
    expect(twice.body.message).toContain('rules.1');
  });
});

describe('updating a group', () => {
  it('keeps the ids of rules that stay, changes descriptions in place, as one revision', async () => {
    const group = await made({
      rules: [tcp(22), tcp(80), tcp(443)],
      tags: { env: 'production', owner: 'a' },
    });
    const [ssh, http, https] = group.security_group_rules;
    const name = uniqueName();
    const task = await ended(
      await service.http.patch(`${V2}/${group.id}`, {
        name,
        description: 'changed',
        rules: [tcp(8080), tcp(80, { description: 'web', remote_ip_prefix: '0.0.0.0/0' }), tcp(22)],
        tags: { owner: null },
      }),
    );
    expect(task).toMatchObject({ task_type: 'update_security_group', created_resources: null });
    const after = await read(group.id);
    expect(after).toMatchObject({
      name,
      description: 'changed',
      revision_number: group.revision_number + 1,
      tags_v2: [{ key: 'env', value: 'production' }],
    });
    const byId = new Map(after.security_group_rules.map((rule: { id: string }) => [rule.id, rule]));
    expect(byId.size).toBe(3);
    expect(byId.get(ssh.id)).toEqual(ssh);
    expect(byId.get(http.id)).toMatchObject({ description: 'web', revision_number: 1 });
    expect(byId.has(https.id)).toBe(false);
  });

  it('answers no task when nothing changes, and under /gcore one that is finished', async () => {
    const rules = [tcp(22), { direction: 'egress' }];
    const group = await made({ rules, tags: { env: 'production' } });
    const same = { name: group.name, description: '', rules: [...rules].reverse(), tags: { other: null } };
    expect((await service.http.patch(`${V2}/${group.id}`, same)).body).toEqual([]);
    expect((await service.http.patch(`${V2}/${group.id}`, {})).body).toEqual([]);
    const { tasks } = (await service.http.patch(`/gcore${V2}/${group.id}`, same)).body;
    const { body: task } = await service.http.get(`/cloud/v1/tasks/${tasks[0]}`);
    expect(task).toMatchObject({ state: 'FINISHED', task_type: 'update_security_group' });
    expect(await read(group.id)).toEqual(group);
  });

  it('removes every rule for an empty set and refuses a taken name, a bad rule, an unknown group', async () => {
    const group = await made();
    await ended(await service.http.patch(`${V2}/${group.id}`, { rules: [] }));
    expect((await read(group.id)).security_group_rules).toEqual([]);
    const patch = (body: object) => service.http.patch(`${V2}/${group.id}`, body);
    expect((await patch({ name: (await made()).name })).status).toBe(409);
    expect((await patch({ rules: [{ direction: 'ingress', port_range_min: 1 }] })).status).toBe(400);
    expect((await patch({ rules: [{ direction: 'ingress', remote_group_id: randomUUID() }] })).status).toBe(404);
    expect((await service.http.patch(`${V2}/${randomUUID()}`, {})).status).toBe(404);
  });

  it('makes one of the wanted sets that come at once true, never a mixture', async () => {
    const group = await made({ rules: [] });
    const sets = [1, 2, 3, 4, 5, 6].map((set) => [tcp(set * 10), tcp(set * 10 + 1)]);
    const answers = await Promise.all(sets.map((rules) => service.http.patch(`${V2}/${group.id}`, { rules })));
    expect(answers.map(({ status }) => status)).toEqual(sets.map(() => 200));
    const after = await read(group.id);
    const ports = after.security_group_rules.map((rule: { port_range_min: number }) => rule.port_range_min);
    expect(sets.map((rules) => rules.map((rule) => rule.port_range_min))).toContainEqual(ports);
    expect(after.revision_number).toBe(group.revision_number + sets.length);
  });
});

describe('rules', () => {
  it('are added and deleted, each by one task that names what it made', async () => {
    const group = await made({ rules: [] });
    const added = await ended(await service.http.post(`${V2}/${group.id}/rules`, tcp(22)));
    expect(added.task_type).toBe('create_security_group_rule');
    const [ruleId] = added.created_resources.security_group_rules;
    expect((await read(group.id)).security_group_rules).toMatchObject([{ id: ruleId, ...tcp(22) }]);
    const twin = await service.http.post(`${V2}/${group.id}/rules`, tcp(22));
    expect(twin.status).toBe(409);
    expect(twin.body.message).toContain(ruleId);
    const other = await made();
    expect((await service.http.delete(`${V2}/${other.id}/rules/${ruleId}`)).status).toBe(404);
    const removed = await ended(await service.http.delete(`${V2}/${group.id}/rules/${ruleId}`));
    expect(removed.task_type).toBe('delete_security_group_rule');
    expect((await service.http.delete(`${V2}/${group.id}/rules/${ruleId}`)).status).toBe(404);
    expect((await read(group.id)).security_group_rules).toEqual([]);
  });
});

it('has each change done when its task can be read, with nothing left to a worker', async () => {
  const accepted = await service.http.post(V2, { name: uniqueName(), rules: [] });
  expect(accepted.status, accepted.text).toBe(200);
  const { body: task } = await service.http.get(`/v1/tasks/${accepted.body[0]}`);
  expect(task).toMatchObject({ state: 'FINISHED', task_type: 'create_security_group', error: null });
  const [id] = task.created_resources.security_groups;
  const rule = await service.http.post(`${V2}/${id}/rules`, tcp(22));
  expect((await service.http.get(`/v1/tasks/${rule.body[0]}`)).body).toMatchObject({
    state: 'FINISHED',
    created_resources: { security_group_rules: [expect.any(String)] },
  });
});
