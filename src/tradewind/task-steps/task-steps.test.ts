import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { BOOT_VOLUME } from '../../../test/support/boot-volume.ts';
import { SOON } from '../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());

const stepsOf = async (id: string, http = service.http) => http.get(`/tradewind/v1/tasks/${id}/steps`);

/** Three volumes, a port and a machine, which waits for the others. */
async function makeInstance(name: string): Promise<string> {
  const volume = { ...BOOT_VOLUME, delete_on_termination: true };
  const made = await service.http.post('/cloud/v2/instances/1/1', {
    name,
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [volume, volume, volume],
  });
  expect(made.status, made.text).toBe(200);
  return made.body[0];
}

it('shows what a task has done, with times, once it has ended', async () => {
  const id = await makeInstance('with-steps');
  await service.http.task(id);
  const { status, body } = await stepsOf(id);
  expect(status).toBe(200);
  expect(body).toMatchObject({ task_id: id, state: 'FINISHED' });
  expect(body.done).toBe(body.of);
  expect(body.of).toBeGreaterThan(2);
  const kinds = new Set(body.steps.map(({ kind }: { kind: string }) => kind));
  expect(kinds).toContain('machine');
  const notes = body.steps.flatMap(({ history }: { history: { at: string }[] }) => history);
  expect(notes.length).toBeGreaterThan(2);
  for (const { history } of body.steps) {
    const times = history.map(({ at }: { at: string }) => at);
    expect(times).toEqual(times.toSorted());
  }
});

it('shows while a task runs what is done and why the rest waits', async () => {
  const hold = { task: 'create_vm', name: 'while-it-runs', do: { hold: true } };
  expect((await service.http.post('/tradewind/v1/test/faults', hold)).status).toBe(201);
  const id = await makeInstance('while-it-runs');
  const steps = await vi.waitFor(async () => {
    const { body } = await stepsOf(id);
    expect(body.steps.map(({ doing }: { doing: string | null }) => doing)).toContainEqual(
      expect.stringContaining('waiting for '),
    );
    return body;
  }, SOON);
  expect(['NEW', 'RUNNING']).toContain(steps.state);
  expect(steps.done).toBeLessThan(steps.of);
  await service.http.delete('/tradewind/v1/test/faults');
  await service.http.task(id);
});

it('says of a task that failed what it gave up', async () => {
  const id = await makeInstance('given-up');
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 s' where id = $1`, [id]);
  const task = await service.http.task(id);
  const { body } = await stepsOf(id);
  expect(body.state).toBe(task.state);
  const states = body.steps.map(({ state }: { state: string }) => state);
  expect(states.includes('given up')).toBe(task.state === 'ERROR');
});

it('is 404 for an unknown task and for one of another account, and 401 without credentials', async () => {
  const id = await makeInstance('private');
  const other = await service.otherTenant();
  const refused = await stepsOf(id, other.http);
  expect([refused.status, refused.headers.get('content-type')]).toEqual([
    404,
    'application/problem+json; charset=utf-8',
  ]);
  expect((await stepsOf(randomUUID())).status).toBe(404);
  expect((await stepsOf('no-uuid')).status).toBe(404);
  expect((await service.http.post('/tradewind/v1/tasks/no-uuid/cancel')).status).toBe(404);
  expect((await stepsOf(id, service.anonymous)).status).toBe(401);
  await service.http.task(id);
});

it('shows the task that a waiting deletion waits for, and then its own work', async () => {
  const { http } = service;
  const port = await http.post('/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' });
  const { created_resources } = await http.task(port.body[0]);
  const made = await http.post('/cloud/v2/instances/1/1', {
    name: 'held',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'reserved_fixed_ip', port_id: created_resources.ports[0] }],
    volumes: [BOOT_VOLUME],
  });
  const { created_resources: machine } = await http.task(made.body[0]);
  await http.post('/tradewind/v1/test/faults', { task: 'delete_vm', do: { hold: true } });
  const first = (await http.delete(`/cloud/v1/instances/1/1/${machine.instances[0]}`)).body[0];
  const waits = await http.delete(`/cloud/v1/reserved_fixed_ips/1/1/${created_resources.ports[0]}`);
  expect(waits.status, waits.text).toBe(200);
  expect((await stepsOf(waits.body[0])).body).toMatchObject({
    state: 'NEW',
    done: 0,
    of: 1,
    steps: [{ kind: 'task', id: first, state: 'waiting', doing: `waiting for the end of task ${first}` }],
  });
  await http.delete('/tradewind/v1/test/faults');
  expect((await http.task(waits.body[0])).state).toBe('FINISHED');
  expect((await stepsOf(waits.body[0])).body.steps).not.toContainEqual(expect.objectContaining({ kind: 'task' }));
});
