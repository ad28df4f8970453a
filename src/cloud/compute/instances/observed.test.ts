import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { follow, type Stream } from '../../../../test/support/events.ts';
import { SOON } from '../../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const I = '/cloud/v1/instances/1/1';
const V2 = '/cloud/v2/instances/1/1';

let service: TestService;
let stream: Stream;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true', TRADEWIND_COMPARE_SECONDS: '1' });
  stream = await follow(service.http, { query: 'type=tradewind.instance.*' });
});
afterAll(async () => {
  await stream.stop();
  await service.stop();
});

async function instance(name: string): Promise<string> {
  const body = { name, flavor: 'g1-standard-1-2', interfaces: [{ type: 'external' }], volumes: [BOOT_VOLUME] };
  return (await done(await service.http.post(V2, body))).created_resources.instances[0];
}
async function done(answer: { status: number; body: string[]; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}
const become = async (id: string, becomes: string) => {
  const answer = await service.http.post(`/tradewind/v1/test/machines/${id}`, { becomes });
  expect(answer.status, answer.text).toBe(204);
};
const act = (id: string, action: string) => service.http.post(`${V2}/${id}/action`, { action });
const read = async (id: string) => {
  const { status, vm_state, task_id } = (await service.http.get(`${I}/${id}`)).body;
  return { status, vm_state, task_id };
};
const OFF = { status: 'SHUTOFF', vm_state: 'stopped', task_id: null };
const BAD = { status: 'ERROR', vm_state: 'error', task_id: null };
const ON = { status: 'ACTIVE', vm_state: 'active', task_id: null };
const isSoon = (id: string, state: object) => expect.poll(() => read(id), SOON).toEqual(state);
const told = (id: string) => {
  const own = stream.received.filter(({ data }) => data.subject === `instance/${id}`);
  return own.map(({ event }) => event.replace('tradewind.instance.', ''));
};
const untilTold = (id: string, ...verbs: string[]) => expect.poll(() => told(id), SOON).toEqual(verbs);
/** What is wanted of the machine, and observed. */
async function wantOf(id: string) {
  const { rows } = await service.pool.query(
    `select spec ->> 'power' as wanted, observed ->> 'power' as observed, generation = settled_generation as settled
     from wants where kind = 'machine' and id = $1`,
    [id],
  );
  return rows[0];
}
async function failed(state: string): Promise<string | undefined> {
  const { text } = await service.anonymous.get('/metrics');
  return new RegExp(`^tradewind_failed_machines\\{region="1",state="${state}"\\} (\\d+)$`, 'm').exec(text)?.[1];
}

it('a machine that its guest switches off is stopped, and stays so until somebody starts it', async () => {
  const id = await instance('switched-off');
  await become(id, 'stopped');
  await isSoon(id, OFF);
  await expect.poll(() => wantOf(id), SOON).toEqual({ wanted: 'off', observed: 'stopped', settled: true });
  await untilTold(id, 'created', 'shut_down');
  const event = stream.received.find(({ data }) => data.subject === `instance/${id}` && data.data.reason)?.data;
  expect(event).toMatchObject({
    type: 'tradewind.instance.shut_down',
    data: {
      client_id: 1,
      project_id: 1,
      region_id: 1,
      actor: null,
      task: null,
      resources: [{ type: 'instance', id, name: 'switched-off' }],
      reason: 'The guest has switched the machine off',
    },
  });
  expect(event.data.revision.after).toBeGreaterThan(event.data.revision.before);
  // It costs what it costs when the API stops it.
  const periods = 'select ended_at from usage_periods where resource_id = $1';
  expect((await service.pool.query(periods, [id])).rows).toEqual([{ ended_at: null }]);
  await done(await act(id, 'start'));
  expect(await read(id)).toEqual(ON);
  expect(await wantOf(id)).toEqual({ wanted: 'on', observed: 'running', settled: true });
});

it('a machine that crashes is an ERROR until it is rebooted hard', async () => {
  const id = await instance('crashing');
  await become(id, 'crashed');
  await isSoon(id, BAD);
  await expect.poll(() => failed('crashed'), SOON).toBe('1');
  expect((await act(id, 'start')).status).toBe(409);
  // A change of something else doesn't start it, nor does comparing.
  expect((await service.http.patch(`${I}/${id}`, { name: 'crashed' })).status).toBe(200);
  await expect.poll(() => wantOf(id), SOON).toEqual({ wanted: 'on', observed: 'crashed', settled: true });
  expect(await read(id)).toEqual(BAD);
  await done(await act(id, 'reboot_hard'));
  expect(await read(id)).toEqual(ON);
  await untilTold(id, 'created', 'crashed', 'updated', 'power_cycled');
  await expect.poll(() => failed('crashed'), SOON).toBeUndefined();
  await become(id, 'crashed');
  await isSoon(id, BAD);
  await done(await act(id, 'stop'));
  expect(await read(id)).toEqual(OFF);
});

it('a machine without its host is an ERROR, and runs again with it', async () => {
  const id = await instance('hostless');
  await become(id, 'host_gone');
  await isSoon(id, BAD);
  await expect.poll(() => failed('host_gone'), SOON).toBe('1');
  const rebooted = await service.http.task((await act(id, 'reboot_hard')).body[0]);
  expect(rebooted).toMatchObject({ state: 'ERROR', error: expect.stringContaining('The host of the machine') });
  expect(await read(id)).toEqual(BAD);
  await become(id, 'running');
  await isSoon(id, ON);
  await untilTold(id, 'created', 'host_lost', 'power_cycled', 'recovered');
  expect(await failed('host_gone')).toBeUndefined();
  await done(await service.http.delete(`${I}/${id}`));
});

it('what happens while a task holds the instance is seen at its end', async () => {
  const id = await instance('busy');
  await service.http.post('/tradewind/v1/test/faults', { task: 'soft_reboot_vm', do: { hold: true } });
  const { body } = await act(id, 'reboot');
  await become(id, 'host_gone');
  await service.http.delete('/tradewind/v1/test/faults');
  expect(await service.http.task(body[0])).toMatchObject({ state: 'ERROR' });
  await isSoon(id, BAD);
  await untilTold(id, 'created', 'rebooted', 'host_lost');

  // A task that succeeds leaves the machine as it is.
  const other = await instance('moving');
  const group = await service.http.post('/cloud/v1/servergroups/1/1', { name: 'apart', policy: 'anti-affinity' });
  expect(group.status, group.text).toBeLessThan(300);
  await service.http.post('/tradewind/v1/test/faults', { task: 'put_into_server_group', do: { hold: true } });
  const moved = await service.http.post(`${I}/${other}/put_into_servergroup`, {
    servergroup_id: group.body.servergroup_id,
  });
  await become(other, 'crashed');
  await service.http.delete('/tradewind/v1/test/faults');
  await done(moved);
  expect(await read(other)).toEqual(BAD);
  await untilTold(other, 'created', 'put_into_placement_group', 'crashed');
});

it('what a backend does not report is found by comparing', async () => {
  const id = await instance('unreported');
  // Workers that listen see the difference only between two looks.
  await service.pool.query(
    `update wants set observed = '{"power": "crashed"}' where kind = 'machine' and id = $1 and due_at is null`,
    [id],
  );
  await service.pool.query(`update instances set status = 'ERROR', vm_state = 'error' where id = $1`, [id]);
  await isSoon(id, ON);
  await untilTold(id, 'created', 'recovered');
});

it('only the platform administrator lets machines of the simulation do something, if they exist', async () => {
  const id = await instance('ours');
  const path = `/tradewind/v1/test/machines/${id}`;
  const other = await service.otherTenant();
  expect((await other.http.post(path, { becomes: 'crashed' })).status).toBe(403);
  expect((await service.http.post(path, { becomes: 'burnt' })).status).toBe(400);
  for (const missing of [crypto.randomUUID(), 'nothing']) {
    const answer = await service.http.post(`/tradewind/v1/test/machines/${missing}`, { becomes: 'crashed' });
    expect(answer.status).toBe(404);
  }
});
