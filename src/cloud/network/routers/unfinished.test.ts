import { afterAll, beforeAll, expect, it } from 'vitest';
import { alreadyThere, hurried, hurry, infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const V1 = '/cloud/v1/routers/1/1';
const V2 = '/cloud/v2/routers/1/1';
const NETWORKS = '/cloud/v1/networks/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
let outside: string;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
  outside = (await service.http.get(`${NETWORKS}?owned_by=any&external=true`)).body.results[0].id;
});
afterAll(() => service.stop());

const get = async (id: string) => (await service.http.get(`${V1}/${id}`)).body;

async function overrun(taskId: string) {
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [taskId]);
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR' });
}

/** Inserts a router without a task. */
async function router(name: string): Promise<string> {
  const { rows } = await service.pool.query(
    `insert into routers (id, project_id, region_id, name, routes, enable_snat, creator_task_id, created_at, updated_at)
     values (gen_random_uuid(), 1, 1, $1, '[]', false, gen_random_uuid(), now(), now()) returning id`,
    [name],
  );
  await service.pool.query(
    `insert into quota_usage (client_id, region_id, attribute, used) values (1, 1, 'router_count', 1)
     on conflict (client_id, region_id, attribute) do update set used = quota_usage.used + 1`,
  );
  await alreadyThere(service.pool, 'router', rows[0].id, { name, interfaces: {}, routes: [] });
  return rows[0].id;
}

const heldAddresses = async () =>
  (await service.pool.query('select from ip_assignments where router_id is not null')).rowCount;

it.each([
  ['a router', V1, { name: 'failing', external_gateway_info: {} }],
  ['a network with its router', NETWORKS, { name: 'failing' }],
])('the creation of %s that fails leaves nothing', async (_, path, body) => {
  const parts = async () => [
    await infrastructure(service.pool, 'router'),
    (await infrastructure(service.pool, 'network')).wanted,
  ];
  const before = await parts();
  const answer = await service.http.post(path, body);
  expect(answer.status, answer.text).toBe(200);
  const [made] = (await service.http.get(V1)).body.results;
  expect(made).toMatchObject({ status: 'ALLOCATING', task_id: answer.body[0] });
  expect(await heldAddresses()).toBe(1);
  for (const refused of [
    await service.http.patch(`${V1}/${made.id}`, { name: 'other' }),
    await service.http.patch(`${V2}/${made.id}`, { name: 'other' }),
    await service.http.delete(`${V1}/${made.id}`),
  ]) {
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(answer.body[0])]);
  }
  await overrun(answer.body[0]);
  const after = async () => {
    await hurry(service.pool);
    return parts();
  };
  await expect.poll(after).toEqual(before);
  expect((await service.http.get(V1)).body.count).toBe(0);
  expect(await heldAddresses()).toBe(0);
  const { rows } = await service.pool.query(`select from quota_usage where attribute = 'router_count' and used > 0`);
  expect(rows).toEqual([]);
});

it('an update that fails gives back what was, with or without a gateway', async () => {
  const id = await router('former');
  const gateway = { network_id: outside, enable_snat: false };
  const added = await service.http.patch(`${V2}/${id}`, { name: 'next', external_gateway_info: gateway });
  expect(added.status, added.text).toBe(200);
  expect(await get(id)).toMatchObject({ name: 'next', status: 'ACTIVE', task_id: added.body[0] });
  expect(await heldAddresses()).toBe(1);
  await overrun(added.body[0]);
  const former = { name: 'former', external_gateway_info: null, task_id: null };
  expect(await get(id)).toMatchObject(former);
  expect(await heldAddresses()).toBe(0);
  expect((await specOf(service.pool, 'router', id)).wanted).toEqual({
    name: 'former',
    interfaces: {},
    routes: [],
  });

  const led = await service.http.patch(`${V1}/${id}`, { external_gateway_info: gateway });
  expect(led.status, led.text).toBe(200);
  const removed = await service.http.patch(`${V2}/${id}`, { external_gateway_info: null });
  expect(removed.status, removed.text).toBe(200);
  // Nobody else gets the address as long as the router may get it back.
  expect([(await get(id)).external_gateway_info, await heldAddresses()]).toEqual([null, 1]);
  await overrun(removed.body[0]);
  expect((await get(id)).external_gateway_info).toEqual(led.body.external_gateway_info);
  expect((await specOf(service.pool, 'router', id)).wanted).toMatchObject({
    gateway: { networkId: outside },
  });
});

it('floating IPs do without a router that could not be made or changed', async () => {
  const { subnets } = (await service.http.get(`${NETWORKS}?name=default`)).body.results[0];
  const done = async (path: string, body: object) => {
    const answer = await service.http.post(path, body);
    expect(answer.status, answer.text).toBe(200);
    const task = await hurried(service.pool, service.http.task(answer.body[0]));
    expect(task.state, task.error).toBe('FINISHED');
    return task.created_resources;
  };
  const { ports } = await done('/cloud/v1/reserved_fixed_ips/1/1', {
    type: 'subnet',
    subnet_id: subnets[0],
  });
  const { floatingips } = await done('/cloud/v1/floatingips/1/1', { port_id: ports[0] });
  const wayOut = async () => (await specOf(service.pool, 'floating_ip', floatingips[0])).wanted?.target?.routerId;
  expect(await wayOut()).toBeUndefined();

  const taking = { external_gateway_info: {}, interfaces: [{ subnet_id: subnets[0] }] };
  const answer = await service.http.post(V1, { name: 'takes over', ...taking });
  expect(answer.status, answer.text).toBe(200);
  const [made] = (await service.http.get(`${V1}?name=takes over`)).body.results;
  expect(await wayOut()).toBe(made.id);
  await overrun(answer.body[0]);
  expect(await wayOut()).toBeUndefined();
  const gone = async () => {
    await hurry(service.pool);
    return specOf(service.pool, 'router', made.id);
  };
  await expect.poll(gone).toEqual({ wanted: undefined, there: undefined });

  const { routers } = await done(V1, { name: 'first', ...taking });
  const second = await router('second');
  const { cidr } = (await service.http.get(`/cloud/v1/subnets/1/1/${subnets[0]}`)).body;
  const ip_address = cidr.replace(/\d+\/\d+$/, '77');
  const attached = await service.http.post(`${V1}/${second}/attach`, { subnet_id: subnets[0], ip_address });
  expect(attached.status, attached.text).toBe(200);
  const led = await service.http.patch(`${V1}/${second}`, { external_gateway_info: { network_id: outside } });
  expect(led.status, led.text).toBe(200);
  const removed = await service.http.patch(`${V2}/${routers[0]}`, { external_gateway_info: null });
  expect(removed.status, removed.text).toBe(200);
  expect(await wayOut()).toBe(second);
  await overrun(removed.body[0]);
  expect(await wayOut()).toBe(routers[0]);
});

it('a subnet that could not be made leaves its router as it was', async () => {
  const made = await service.http.post(NETWORKS, { name: 'routed' });
  const task = await hurried(service.pool, service.http.task(made.body[0]));
  const { networks, routers } = task.created_resources;
  const before = await specOf(service.pool, 'router', routers[0]);
  const subnet = { name: 'sub', network_id: networks[0], cidr: '172.16.0.0/24' };
  const answer = await service.http.post('/cloud/v1/subnets/1/1', subnet);
  expect(answer.status, answer.text).toBe(200);
  expect((await get(routers[0])).interfaces).toHaveLength(1);
  expect((await specOf(service.pool, 'router', routers[0])).wanted).not.toEqual(before.wanted);
  await overrun(answer.body[0]);
  expect((await get(routers[0])).interfaces).toEqual([]);
  expect((await specOf(service.pool, 'router', routers[0])).wanted).toEqual(before.wanted);
});

it('a removal that fails goes on', async () => {
  const id = await router('going');
  const answer = await service.http.delete(`${V1}/${id}`);
  expect(answer.status, answer.text).toBe(200);
  await overrun(answer.body[0]);
  expect(await get(id)).toMatchObject({ task_id: answer.body[0] });
  const again = await service.http.delete(`${V1}/${id}`);
  expect(again.status, again.text).toBe(200);
  const state = async () => {
    await hurry(service.pool);
    return (await service.http.get(`/v1/tasks/${again.body[0]}`)).body.state;
  };
  await expect.poll(state).toBe('FINISHED');
  expect((await service.http.get(`${V1}/${id}`)).status).toBe(404);
});
