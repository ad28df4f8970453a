import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const I = '/cloud/v1/instances/1/1';
const V2 = '/cloud/v2/instances/1/1';

let service: TestService;
let http: HttpClient;
let id: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const accepted = await http.post(V2, {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [BOOT_VOLUME],
    tags: { env: 'test', owner: 'me' },
  });
  id = (await http.task(accepted.body[0])).created_resources.instances[0];
});
afterAll(() => service.stop());

const read = async () => (await http.get(`${I}/${id}`)).body;
const act = (action: string, more: object = {}) => http.post(`${V2}/${id}/action`, { action, ...more });
const resize = (flavor: string) => http.post(`${I}/${id}/changeflavor`, { flavor_id: flavor });

async function done(answer: { status: number; body: string[]; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

describe('a change of name and tags', () => {
  it('sets what is named and keeps the rest', async () => {
    const changed = await http.patch(`${I}/${id}`, { name: 'web-2', tags: { env: 'live', owner: null } });
    expect(changed.status, changed.text).toBe(200);
    const tags = [{ key: 'env', value: 'live', read_only: false }];
    expect(changed.body).toMatchObject({ id, name: 'web-2', tags });
    expect((await http.patch(`${I}/${id}`, {})).body).toMatchObject({ name: 'web-2', tags });
    expect((await http.patch(`${I}/${id}`, { tags: null })).body).toMatchObject({ name: 'web-2', tags: [] });
    expect(await read()).toMatchObject({ name: 'web-2', tags: [] });
  });

  it('refuses a name that breaks the rules', async () => {
    const refused = await http.patch(`${I}/${id}`, { name: 'a' });
    expect(refused.status).toBe(400);
    expect(refused.body.invalid_fields).toHaveProperty('name');
  });
});

describe('actions', () => {
  const actions = [
    ['reboot', {}, 'soft_reboot_vm', 'ACTIVE', 'active'],
    ['suspend', {}, 'suspend_vm', 'SUSPENDED', 'suspended'],
    ['resume', {}, 'resume_vm', 'ACTIVE', 'active'],
    ['stop', {}, 'stop_vm', 'SHUTOFF', 'stopped'],
    ['reboot_hard', {}, 'hard_reboot_vm', 'ACTIVE', 'active'],
    ['stop', {}, 'stop_vm', 'SHUTOFF', 'stopped'],
    ['start', { activate_profile: null }, 'start_vm', 'ACTIVE', 'active'],
  ] as const;

  it('lead from state to state by tasks', async () => {
    for (const [action, more, type, status, vmState] of actions) {
      const task = await done(await act(action, more));
      expect(task).toMatchObject({ task_type: type, data: { instance_id: id, action } });
      const now = { status, vm_state: vmState, task_state: null, task_id: null };
      expect(await read()).toMatchObject(now);
    }
  });

  it.each(['start', 'resume'])('%s of one that runs is refused, naming the state', async (action) => {
    const refused = await act(action);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('is active (status ACTIVE)');
    expect(await read()).toMatchObject({ status: 'ACTIVE', task_id: null });
  });

  it('refuses an unknown action, and a field of another one', async () => {
    expect((await act('explode')).status).toBe(400);
    expect((await act('stop', { activate_profile: true })).status).toBe(400);
  });

  it.each(['suspend', 'resume'])('%s of a bare metal machine is refused', async (action) => {
    const set = 'update instances set flavor_id = $1, vm_state = $2 where id = $3';
    const state = action === 'suspend' ? 'active' : 'suspended';
    await service.pool.query(set, ['bm3-ai-8xlarge-gpu-h100-8', state, id]);
    const refused = [await act(action), await http.post(`${I}/${id}/${action}`)];
    await service.pool.query(set, ['g1-standard-1-2', 'active', id]);
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual(
      Array(2).fill([409, expect.stringContaining('bare metal')]),
    );
  });

  it('lets one of many at once through', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => act('stop')));
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
    await done(accepted[0] ?? expect.fail('no answer'));
    await done(await act('start'));
  });
});

describe('a change of the flavor', () => {
  it('gives the instance another one', async () => {
    const offered = await http.get(`${I}/${id}/available_flavors`);
    const ids = offered.body.results.map((flavor: { flavor_id: string }) => flavor.flavor_id);
    expect(ids).toContain('g1-standard-2-4');
    expect(ids).not.toContain('g1-standard-1-2');
    expect(ids.filter((one: string) => one.startsWith('bm'))).toEqual([]);
    expect(await done(await resize('g1-standard-2-4'))).toMatchObject({ task_type: 'resize_vm' });
    expect(await read()).toMatchObject({
      status: 'ACTIVE',
      task_id: null,
      flavor: { flavor_id: 'g1-standard-2-4', vcpus: 2, ram: 4096 },
    });
  });

  it.each([
    ['g1-standard-2-4', 400, 'already'],
    ['g1-nothing', 400, 'no instance flavor'],
    ['bm1-infra-medium', 400, 'no instance flavor'],
    ['g0-standard-2-4', 403, 'has run out'],
  ])('to %s is refused with %i', async (flavor, status, text) => {
    const refused = await resize(flavor);
    expect(refused.status).toBe(status);
    expect(refused.body.message).toContain(text);
  });
});

it('nobody changes what is not there', async () => {
  for (const instance of [crypto.randomUUID(), 'no-uuid']) {
    expect((await http.patch(`${I}/${instance}`, { name: 'web-9' })).status).toBe(404);
    expect((await http.post(`${V2}/${instance}/action`, { action: 'stop' })).status).toBe(404);
    const change = await http.post(`${I}/${instance}/changeflavor`, { flavor_id: 'g1-standard-4-8' });
    expect(change.status).toBe(404);
    expect((await http.get(`${I}/${instance}/available_flavors`)).status).toBe(404);
  }
  expect(await read()).toMatchObject({ name: 'web-2', status: 'ACTIVE' });
});
