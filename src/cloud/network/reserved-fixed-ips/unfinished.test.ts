import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { hurried, hurry, infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const RESERVED = '/cloud/v1/reserved_fixed_ips/1/1';
const I = '/cloud/v1/instances/1/1';

// So slow that a task is overdue before its work is done.
let service: TestService;
let instance: string;
/** Ports of the instance; the third one is in the external network. */
let ports: string[];
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.05' });
  const network_id = (await service.http.get('/cloud/v1/networks/1/1')).body.results[0].id;
  const inside = { type: 'any_subnet', network_id };
  const answer = await service.http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [inside, inside, { type: 'external' }],
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
  });
  const made = await finished(taskOf(answer));
  instance = made.instances[0];
  ports = made.ports;
});
afterAll(() => service.stop());

const taskOf = (answer: { status: number; body: string[]; text: string }): string => {
  expect(answer.status, answer.text).toBe(200);
  return String(answer.body[0]);
};

async function failed(taskId: string) {
  // Moves both times: when a removal is requested again, its task gets as much time as this one had.
  await service.pool.query(
    `update tasks set created_on = created_on - interval '1 hour', deadline_at = deadline_at - interval '1 hour'
     where id = $1`,
    [taskId],
  );
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR', created_resources: null });
}

async function finished(taskId: string) {
  const task = await hurried(service.pool, service.http.task(taskId));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources;
}

async function reserved(is_vip = false): Promise<string> {
  return (await finished(taskOf(await service.http.post(RESERVED, { type: 'external', is_vip })))).ports[0];
}

async function counts() {
  const { rows } = await service.pool.query(
    `select (select count(*) from ports)::int as ports, (select count(*) from ip_assignments)::int as addresses,
      (select count(*) from floating_ips)::int as floating,
      (select coalesce(sum(used), 0) from quota_usage
        where attribute in ('reserved_fixed_ip_count', 'floating_count'))::int as used`,
  );
  return rows[0];
}

it('leaves a port to its instance alone when it could not be kept', async () => {
  const before = await counts();
  const [port] = ports;
  const taskId = taskOf(await service.http.post(RESERVED, { type: 'port', port_id: port }));
  const held = await service.http.delete(`${I}/${instance}`);
  expect([held.status, held.body.message]).toEqual([409, expect.stringContaining(taskId)]);
  await failed(taskId);
  expect((await service.http.get(`${RESERVED}/${port}`)).status).toBe(404);
  const { results } = (await service.http.get(`${I}/${instance}/interfaces`)).body;
  expect(results.map(({ port_id }: { port_id: string }) => port_id)).toEqual(ports);
  expect(await counts()).toEqual(before);
});

it('leaves a port to its load balancer alone when it could not be kept, or too early', async () => {
  const BALANCERS = '/cloud/v1/loadbalancers/1/1';
  const creation = taskOf(await service.http.post(BALANCERS, { name: 'unfinished' }));
  const [{ id, vip_port_id: port }] = (await service.http.get(`${BALANCERS}?name=unfinished`)).body.results;
  const early = await service.http.post(RESERVED, { type: 'port', port_id: port });
  expect([early.status, early.body.message]).toEqual([409, expect.stringContaining(id)]);
  await finished(creation);
  const before = await counts();
  await failed(taskOf(await service.http.post(RESERVED, { type: 'port', port_id: port })));
  expect((await service.http.get(`${RESERVED}/${port}`)).status).toBe(404);
  expect((await service.http.get(`${BALANCERS}/${id}`)).body).toMatchObject({ vip_port_id: port });
  expect(await counts()).toEqual(before);
  await finished(taskOf(await service.http.delete(`${BALANCERS}/${id}`)));
  expect(await counts()).toEqual({ ...before, ports: before.ports - 1, addresses: before.addresses - 1 });
});

it('leaves nothing of a port that could not be kept when its instance has gone meanwhile', async () => {
  const before = await counts();
  const taskId = taskOf(await service.http.post(RESERVED, { type: 'port', port_id: ports[1] }));
  await service.pool.query('update ports set instance_id = null where id = $1', [ports[1]]);
  await failed(taskId);
  expect(await counts()).toEqual({ ...before, ports: before.ports - 1, addresses: before.addresses - 1 });
  expect((await specOf(service.pool, 'port', String(ports[1]))).wanted ?? null).toBeNull();
});

it('leaves nothing of a port that could not be made', async () => {
  const [before, rows] = [await infrastructure(service.pool, 'port'), await counts()];
  const taskId = taskOf(await service.http.post(RESERVED, { type: 'external' }));
  const there = async () => (await infrastructure(service.pool, 'port')).there.length;
  await expect.poll(there).toBe(before.there.length + 1);
  await failed(taskId);
  expect(await counts()).toEqual(rows);
  const after = async () => {
    await hurry(service.pool);
    return infrastructure(service.pool, 'port');
  };
  await expect.poll(after).toEqual(before);
});

it('leaves an address reserved that could not become a floating IP', async () => {
  const id = await reserved();
  const before = await counts();
  const taskId = taskOf(await service.http.post(`${RESERVED}/${id}/convert`, { target_type: 'floating_ip' }));
  expect((await service.http.delete(`${RESERVED}/${id}`)).status).toBe(409);
  expect(await counts()).toEqual({ ...before, used: before.used + 1 });
  await failed(taskId);
  expect((await service.http.get(`${RESERVED}/${id}`)).body).toMatchObject({ task_id: null });
  expect(await counts()).toEqual(before);
  await expectThere(id, { reserved: true });
});

it('brings back a port that has gone already when the floating IP could not be made', async () => {
  const id = await reserved();
  const taskId = taskOf(await service.http.post(`${RESERVED}/${id}/convert`, { target_type: 'floating_ip' }));
  const making = async () => {
    if ((await specOf(service.pool, 'port', id)).wanted !== undefined) await hurry(service.pool);
    return (await infrastructure(service.pool, 'floating_ip')).there.length;
  };
  await expect.poll(making).toBe(1);
  expect(await specOf(service.pool, 'port', id)).toEqual({ wanted: undefined, there: undefined });
  await failed(taskId);
  await expectThere(id, { reserved: true });
  const gone = async () => {
    await hurry(service.pool);
    return infrastructure(service.pool, 'floating_ip');
  };
  await expect.poll(gone).toEqual({ wanted: [], there: [] });
});

/** Waits until everything has settled and the port exists as wanted. */
async function expectThere(id: string, spec: object) {
  const there = async () => {
    await hurry(service.pool);
    return specOf(service.pool, 'port', id);
  };
  await expect.poll(there).toMatchObject({ wanted: spec, there: spec });
  const { wanted, there: found } = await there();
  expect(found).toEqual(wanted);
}

it('leaves a virtual address shared until it is given back at last', async () => {
  const id = await reserved(true);
  const {
    rows: [{ address }],
  } = await service.pool.query(`select host(address) as address from ip_assignments where port_id = $1`, [id]);
  const port_ids = [ports[2]];
  const path = `${RESERVED}/${id}/connected_devices`;
  const shared = await service.http.put(path, { port_ids });
  expect(shared.body.count, shared.text).toBe(1);
  const taskId = taskOf(await service.http.delete(`${RESERVED}/${id}`));
  const late = await service.http.put(path, { port_ids: [] });
  expect([late.status, late.body.message]).toEqual([409, expect.stringContaining(taskId)]);
  await failed(taskId);
  expect((await service.http.get(path)).body.count).toBe(1);
  expect((await service.http.get(`/cloud/v1/ports/1/1/${port_ids[0]}`)).body.allowed_address_pairs).toEqual([
    { ip_address: address },
  ]);
  // The address is released in the end, and no port may send from it any more.
  const again = taskOf(await service.http.delete(`${RESERVED}/${id}`));
  await finished(again);
  expect((await service.http.get(`${RESERVED}/${id}`)).status).toBe(404);
  await expectThere(String(ports[2]), { addressPairs: [] });
});
