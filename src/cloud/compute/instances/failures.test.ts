import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { hurry, infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const I = '/cloud/v1/instances/1/1';

// So slow that a task is overdue before its work is done.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.05' });
});
afterAll(() => service.stop());

async function create(from: object = { type: 'external' }, more: object[] = []): Promise<string> {
  const accepted = await service.http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [from],
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }, ...more],
  });
  expect(accepted.status, accepted.text).toBe(200);
  return accepted.body[0];
}

// Moves both times: when a removal is requested again, its task gets as much time as this one had.
const expire = (taskId: string) =>
  service.pool.query(
    `update tasks set created_on = created_on - interval '1 hour', deadline_at = deadline_at - interval '1 hour'
     where id = $1`,
    [taskId],
  );

const hurryAll = () => hurry(service.pool);

/** Waits for the task's end. All simulated work finishes at once. */
async function hurried(taskId: string) {
  const ended = service.http.task(taskId);
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  const look = async () => {
    await hurryAll();
    return isOver;
  };
  await expect.poll(look, { interval: 100 }).toBe(true);
  return ended;
}

it('leaves nothing behind when a creation fails', async () => {
  const taskId = await create();
  expect((await service.http.get(I)).body.results).toMatchObject([
    { status: 'BUILD', vm_state: 'building', task_id: taskId },
  ]);
  await expire(taskId);
  const task = await service.http.task(taskId);
  expect(task).toMatchObject({ state: 'ERROR', created_resources: null });
  const { rows } = await service.pool.query(
    `select (select count(*) from instances)::int as instances, (select count(*) from ports)::int as ports,
      (select count(*) from volumes)::int as volumes, (select count(*) from ip_assignments)::int as addresses,
      (select sum(used) from quota_usage)::int as quotas, (select sum(used_ips) from subnets)::int as used_ips`,
  );
  expect(rows).toEqual([{ instances: 0, ports: 0, volumes: 0, addresses: 0, quotas: 0, used_ips: 0 }]);
  // Whatever was half created is removed as well, however long that takes.
  for (const kind of ['machine', 'port', 'volume'] as const) {
    const look = async () => {
      await hurryAll();
      return infrastructure(service.pool, kind);
    };
    await expect.poll(look).toEqual({ wanted: [], there: [] });
  }
});

it('leaves a reserved address to the task that works on it when the creation fails', async () => {
  const { http } = service;
  const [reservation] = (await http.post('/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' })).body;
  const [port] = (await hurried(reservation)).created_resources.ports;
  const creation = await create({ type: 'reserved_fixed_ip', port_id: port });
  const [change] = (await http.patch(`/cloud/v1/ports/1/1/${port}`, { tags: { kept: 'yes' } })).body;
  await expire(creation);
  expect((await http.task(creation)).state).toBe('ERROR');
  const freed = (await http.get(`/cloud/v1/reserved_fixed_ips/1/1/${port}`)).body;
  expect(freed).toMatchObject({ reservation: { status: 'available' }, task_id: change });
  await expire(change);
  await http.task(change);
  const [removal] = (await http.delete(`/cloud/v1/reserved_fixed_ips/1/1/${port}`)).body;
  expect((await hurried(removal)).state).toBe('FINISHED');
});

it('shows an instance whose deletion takes longer than its task, and it goes in the end', async () => {
  const created = await hurried(await create());
  expect(created.state).toBe('FINISHED');
  const [id] = created.created_resources.instances;

  const [deletion] = (await service.http.delete(`${I}/${id}`)).body;
  const going = { task_id: deletion, task_state: 'deleting' };
  expect((await service.http.get(`${I}/${id}`)).body).toMatchObject(going);
  const held = await service.http.delete(`${I}/${id}`);
  expect(held.status).toBe(409);
  expect(held.body.message).toContain(deletion);
  await expire(deletion);
  expect((await service.http.task(deletion)).state).toBe('ERROR');
  expect((await service.http.get(`${I}/${id}`)).body).toMatchObject(going);
  const change = await service.http.patch(`${I}/${id}`, { name: 'other' });
  expect(change.status).toBe(409);

  const [again] = (await service.http.delete(`${I}/${id}`)).body;
  expect((await hurried(again)).state).toBe('FINISHED');
  expect((await service.http.get(`${I}/${id}`)).status).toBe(404);
  expect((await service.http.task(deletion)).state).toBe('ERROR');
});

it('does not take the late removal of an instance for that of a volume which stays', async () => {
  const staying = { source: 'new-volume', size: 1, name: 'stays' };
  const { created_resources } = await hurried(await create(undefined, [staying]));
  const [deletion] = (await service.http.delete(`${I}/${created_resources.instances[0]}`)).body;
  await expire(deletion);
  expect((await service.http.task(deletion)).state).toBe('ERROR');
  const { results } = (await service.http.get('/cloud/v1/volumes/1/1')).body;
  const { id } = results.find(({ name }: { name: string }) => name === 'stays');

  const early = await service.http.delete(`/cloud/v1/volumes/1/1/${id}`);
  expect(early.status, early.text).toBe(200);
  expect((await service.http.get(`/v1/tasks/${early.body[0]}`)).body).toMatchObject({
    state: 'NEW',
    data: { waits_for: deletion },
  });

  const [again] = (await service.http.delete(`${I}/${created_resources.instances[0]}`)).body;
  expect((await hurried(again)).state).toBe('FINISHED');
  expect((await hurried(early.body[0])).state).toBe('FINISHED');
  expect((await service.http.get(`/cloud/v1/volumes/1/1/${id}`)).status).toBe(404);
});

const FLOATING = '/cloud/v1/floatingips/1/1';
const inDefaultNetwork = async () => {
  const [network] = (await service.http.get('/cloud/v1/networks/1/1')).body.results;
  return { type: 'any_subnet', network_id: network.id };
};

it('holds the floating IPs of an interface that leaves, and leads them there again when it stays', async () => {
  const outside = { floating_ip: { source: 'new' } };
  const made = (await hurried(await create({ ...(await inDefaultNetwork()), ...outside }))).created_resources;
  const [[id], [portId], [floatingId]] = [made.instances, made.ports, made.floatingips];
  const [{ ip_assignments }] = (await service.http.get(`${I}/${id}/interfaces`)).body.results;
  const detachment = await service.http.post(`${I}/${id}/detach_interface`, {
    port_id: portId,
    ip_address: ip_assignments[0].ip_address,
  });
  expect(detachment.status, detachment.text).toBe(200);
  const [task] = detachment.body;

  const away = await service.http.post(`${FLOATING}/${floatingId}/unassign`);
  expect([away.status, away.body.message]).toEqual([409, expect.stringContaining(task)]);
  await expire(task);
  expect((await service.http.task(task)).state).toBe('ERROR');
  const { wanted } = await specOf(service.pool, 'floating_ip', floatingId);
  expect(wanted).toMatchObject({ target: { portId } });
  const floating = (await service.http.get(`${FLOATING}/${floatingId}`)).body;
  expect(floating).toMatchObject({ port_id: portId, task_id: null });
});

it('takes changes of the ports of an instance that is being deleted, and they go with it', async () => {
  const made = (await hurried(await create(await inDefaultNetwork()))).created_resources;
  const [[id], [portId]] = [made.instances, made.ports];
  const [floatingId] = (await hurried((await service.http.post(FLOATING, {})).body[0])).created_resources.floatingips;
  const group = { security_group: { name: 'too late' } };
  const groupId = (await service.http.post('/cloud/v1/securitygroups/1/1', group)).body.id;

  const [deletion] = (await service.http.delete(`${I}/${id}`)).body;
  const assigned = await service.http.post(`${FLOATING}/${floatingId}/assign`, { port_id: portId });
  expect(assigned.status, assigned.text).toBe(200);
  const grouped = await service.http.post(`${I}/${id}/addsecuritygroup`, { name: 'too late' });
  expect(grouped.status, grouped.text).toBe(204);
  const change = await service.http.patch(`/cloud/v1/ports/1/1/${portId}`, {
    security_group_ids: [groupId],
    allowed_address_pairs: [{ ip_address: '192.0.2.1' }],
  });
  expect(change.status, change.text).toBe(200);

  expect((await hurried(deletion)).state).toBe('FINISHED');
  expect((await hurried(change.body[0])).state).toBe('FINISHED');
  expect((await service.http.get(`${FLOATING}/${floatingId}`)).body).toMatchObject({ port_id: null });
  expect(await specOf(service.pool, 'port', portId)).toEqual({ wanted: undefined, there: undefined });
  const look = async () => {
    await hurryAll();
    return (await specOf(service.pool, 'floating_ip', floatingId)).there;
  };
  await expect.poll(look).not.toHaveProperty('target');
});

it('puts the state back when an action fails', async () => {
  const [id] = (await hurried(await create())).created_resources.instances;
  const rebooting = await service.http.post(`/cloud/v2/instances/1/1/${id}/action`, { action: 'reboot' });
  expect((await service.http.get(`${I}/${id}`)).body).toMatchObject({
    status: 'REBOOT',
    task_state: 'rebooting',
    task_id: rebooting.body[0],
  });
  await expire(rebooting.body[0]);
  expect((await service.http.task(rebooting.body[0])).state).toBe('ERROR');
  expect((await service.http.get(`${I}/${id}`)).body).toMatchObject({
    status: 'ACTIVE',
    vm_state: 'active',
    task_state: null,
    task_id: null,
  });
});
