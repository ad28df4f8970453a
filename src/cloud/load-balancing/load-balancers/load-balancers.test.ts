import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { unchanged } from '../../../../test/support/unchanged.ts';

const BASE = '/cloud/v1/loadbalancers/1/1';
const V2 = '/cloud/v2/loadbalancers/1/1';

let service: TestService;
let network: { id: string; subnets: string[] };
beforeAll(async () => {
  service = await borrowService();
  const { body } = await service.http.get('/cloud/v1/networks/1/1?name=default');
  network = body.results[0];
});
afterAll(() => service.stop());

async function made(request: { name: string; [field: string]: unknown }) {
  const { status, body, text } = await service.http.post(BASE, request);
  expect(status, text).toBe(200);
  const task = await service.http.task(body[0]);
  expect(task).toMatchObject({ task_type: 'create_loadbalancer', state: 'FINISHED', error: null });
  return task.created_resources;
}
async function balancer(request: { name: string; [field: string]: unknown }) {
  const { loadbalancers } = await made(request);
  return (await service.http.get(`${BASE}/${loadbalancers[0]}`)).body;
}
async function finished({ status, body, text }: { status: number; body: string[]; text: string }) {
  expect(status, text).toBe(200);
  expect(body).toHaveLength(1);
  const task = await service.http.task(body[0] ?? '');
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
const used = async (attribute: string) =>
  (await service.pool.query('select used from quota_usage where attribute = $1', [attribute])).rows[0]?.used ?? 0;

describe('creation', () => {
  it('takes an address of the external network, and shows everything', async () => {
    const { loadbalancers, ports, floatingips } = await made({ name: 'outside', tags: { env: 'test' } });
    expect(floatingips).toEqual([]);
    const [id] = loadbalancers;
    const { body } = await service.http.get(`${BASE}/${id}`);
    expect(body).toEqual({
      id,
      name: 'outside',
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
      admin_state_up: true,
      flavor: null,
      preferred_connectivity: 'L2',
      vip_address: expect.stringMatching(/^198\.18\./),
      vip_ip_family: 'ipv4',
      vip_port_id: ports[0],
      vip_fqdn: null,
      additional_vips: [],
      vrrp_ips: [],
      floating_ips: [],
      listeners: [],
      logging: null,
      stats: null,
      ddos_profile: null,
      tags_v2: [{ key: 'env', value: 'test', read_only: false }],
      project_id: 1,
      region: 'Port Halden',
      region_id: 1,
      creator_task_id: expect.any(String),
      task_id: null,
      created_at: expect.stringMatching(/\+0000$/),
      updated_at: expect.stringMatching(/\+0000$/),
    });
    const stats = await service.http.get(`${BASE}/${id}?show_stats=true&with_ddos=true`);
    expect(stats.body.stats).toMatchObject({ active_connections: 0, total_connections: 0 });
  });

  it('takes an address of a network and a new floating IP, which outlives it', async () => {
    const before = [await used('loadbalancer_count'), await used('floating_count')];
    const { loadbalancers, floatingips } = await made({
      name: 'inside',
      flavor: 'lb1-2-4',
      vip_network_id: network.id,
      vip_subnet_id: network.subnets[0],
      floating_ip: { source: 'new' },
    });
    expect([await used('loadbalancer_count'), await used('floating_count')]).toEqual([before[0] + 1, before[1] + 1]);
    const url = `${BASE}/${loadbalancers[0]}`;
    const { body } = await service.http.get(url);
    expect(body).toMatchObject({
      flavor: { flavor_id: 'lb1-2-4', flavor_name: 'lb1-2-4', vcpus: 2, ram: 4096 },
      floating_ips: [{ id: floatingips[0], port_id: body.vip_port_id, fixed_ip_address: body.vip_address }],
    });
    const listed = await service.http.get(`/cloud/v1/floatingips/1/1?port_ids=${body.vip_port_id}`);
    expect(listed.body.results).toMatchObject([{ instance: null, loadbalancer: { id: body.id } }]);
    await finished(await service.http.delete(url));
    expect((await service.http.get(url)).status).toBe(404);
    const floating = await service.http.get(`/cloud/v1/floatingips/1/1/${floatingips[0]}`);
    expect(floating.body).toMatchObject({ port_id: null, status: 'DOWN', task_id: null });
    expect((await service.http.get(`/cloud/v1/ports/1/1/${body.vip_port_id}`)).status).toBe(404);
    expect([await used('loadbalancer_count'), await used('floating_count')]).toEqual([before[0], before[1] + 1]);
    const existing = { source: 'existing', existing_floating_id: floatingips[0] };
    const again = await balancer({
      name: 'inside again',
      vip_network_id: network.id,
      floating_ip: existing,
    });
    expect(again.floating_ips).toMatchObject([{ id: floatingips[0] }]);
    const taken = { name: 'third', vip_network_id: network.id, floating_ip: existing };
    expect((await service.http.post(BASE, taken)).status).toBe(409);
  });

  it('uses a reserved fixed IP, which nobody else can have meanwhile', async () => {
    const reservation = await service.http.post('/cloud/v1/reserved_fixed_ips/1/1', {
      type: 'any_subnet',
      network_id: network.id,
    });
    const task = await finished(reservation);
    const [port] = task.created_resources.ports;
    const one = await balancer({ name: 'reserved', vip_port_id: port });
    expect(one).toMatchObject({ vip_port_id: port });
    const at = `/cloud/v1/reserved_fixed_ips/1/1/${port}`;
    expect((await service.http.get(at)).body).toMatchObject({
      status: 'ACTIVE',
      reservation: { status: 'in-use', resource_type: 'loadbalancer', resource_id: one.id },
    });
    for (const refused of [
      await service.http.delete(at),
      await service.http.patch(at, { is_vip: true }),
      await service.http.post(BASE, { name: 'second', vip_port_id: port }),
    ]) {
      expect(refused.status, refused.text).toBe(409);
      expect(refused.body.message).toContain(one.id);
    }
    await finished(await service.http.delete(`${BASE}/${one.id}`));
    expect((await service.http.get(at)).body).toMatchObject({ reservation: { status: 'available' } });
  });

  it.each<[string, object, string[]]>([
    ['without a name', { name: undefined }, ['name']],
    ['with a short name', { name: 'x' }, ['name']],
    ['with an unknown flavor', { flavor: 'lb9-9-9' }, ['flavor']],
    ['with the flavor of an instance', { flavor: 'g1-standard-1-2' }, ['flavor']],
    ['with an unknown network', { vip_network_id: randomUUID() }, ['vip_network_id']],
    ['with an unknown port', { vip_port_id: randomUUID() }, ['vip_port_id']],
    ['with a port and a network', { vip_port_id: randomUUID(), vip_network_id: randomUUID() }, ['vip_port_id']],
    ['with a floating IP outside', { floating_ip: { source: 'new' } }, ['floating_ip']],
    ['with logging to nowhere', { logging: { enabled: true } }, ['logging.destination_region_id']],
    ['with an unknown field', { colour: 'red' }, ['colour']],
  ])('is refused %s', async (_, change, fields) => {
    const { status, body } = await service.http.post(BASE, { name: 'refused', ...change });
    expect(status).toBe(400);
    expect(Object.keys(body.invalid_fields)).toEqual(fields);
  });

  it('is refused for both families in one subnet, and for a subnet of another network', async () => {
    const vip = { name: 'refused', vip_network_id: network.id };
    const dual = { ...vip, vip_subnet_id: network.subnets[0], vip_ip_family: 'dual' };
    const other = { ...vip, vip_subnet_id: randomUUID() };
    expect(Object.keys((await service.http.post(BASE, dual)).body.invalid_fields)).toEqual(['vip_ip_family']);
    expect(Object.keys((await service.http.post(BASE, other)).body.invalid_fields)).toEqual(['vip_subnet_id']);
  });

  it('beyond the quota is refused, and check_limits says so before', async () => {
    expect((await service.http.post(`${BASE}/check_limits`, {})).body).toEqual({});
    const before = await used('loadbalancer_count');
    const set = (to: number) =>
      service.pool.query(
        `insert into quota_usage values (1, 1, 'loadbalancer_count', $1)
         on conflict (client_id, region_id, attribute) do update set used = $1`,
        [to],
      );
    await set(1000);
    expect((await service.http.post(`${BASE}/check_limits`, {})).body).toEqual({
      loadbalancer_count_limit: 1000,
      loadbalancer_count_requested: 1,
      loadbalancer_count_usage: 1000,
    });
    const { status, body } = await service.http.post(BASE, { name: 'too many' });
    expect(status).toBe(403);
    expect(body).toMatchObject({
      exception_class: 'QuotaLimitExceed',
      info: { attribute: 'loadbalancer_count' },
    });
    await set(before);
  });
});

it('forwards logs to a topic of its own', async () => {
  const logging = { enabled: true, destination_region_id: 1 };
  const one = await balancer({ name: 'logging', logging });
  expect(one.logging).toEqual({ ...logging, topic_name: `lb-${one.id}`, retention_policy: null });
  const topics = await service.http.get('/cloud/v1/laas/1/1/topics');
  expect(topics.text).toContain(one.logging.topic_name);
  const list = await service.http.get(`${BASE}?logging_enabled=true`);
  expect(list.body.results.map(({ id }: { id: string }) => id)).toEqual([one.id]);
});

describe('a change', () => {
  it('is made by a task, which has finished already if nothing changes', async () => {
    const one = await balancer({ name: 'to change', tags: { a: '1', b: '2' } });
    const change = {
      name: 'changed',
      preferred_connectivity: 'L3',
      admin_state_up: false,
      tags: { a: null, c: '3' },
    };
    expect(await finished(await service.http.patch(`${V2}/${one.id}`, change))).toMatchObject({
      task_type: 'update_loadbalancer',
    });
    const { body } = await service.http.get(`${BASE}/${one.id}`);
    expect(body).toMatchObject({
      name: 'changed',
      preferred_connectivity: 'L3',
      admin_state_up: false,
      operating_status: 'OFFLINE',
      tags_v2: [{ key: 'b' }, { key: 'c', value: '3' }],
    });
    await unchanged(service.http, await service.http.patch(`${V2}/${one.id}`, { name: 'changed' }));
    const now = await service.http.patch(`${BASE}/${one.id}`, { name: 'at once' });
    expect(now.body).toMatchObject({ id: one.id, name: 'at once', task_id: null });
    expect((await service.http.patch(`${BASE}/${one.id}`, { admin_state_up: true })).status).toBe(400);
  });

  it('of tags is made one by one as well', async () => {
    const one = await balancer({ name: 'tagged', tags: { a: '1' } });
    const at = `${V2}/${one.id}/metadata`;
    const tags = async () => {
      const { body } = await service.http.get(`${BASE}/${one.id}/metadata`);
      return body.results.map(({ key }: { key: string }) => key);
    };
    await finished(await service.http.post(at, { b: '2' }));
    expect(await tags()).toEqual(['a', 'b']);
    await finished(await service.http.delete(`${at}_item?key=a`));
    expect(await tags()).toEqual(['b']);
    expect((await service.http.delete(`${at}_item?key=a`)).status).toBe(404);
    await finished(await service.http.put(at, { c: '3' }));
    await unchanged(service.http, await service.http.put(at, { c: '3' }));
    expect((await service.http.post(`${BASE}/${one.id}/metadata`, { d: '4' })).status).toBe(204);
    expect(await tags()).toEqual(['c', 'd']);
  });

  it('waits for nobody: a held load balancer is refused', async () => {
    const one = await balancer({ name: 'held' });
    const taskId = randomUUID();
    const hold = (id: string | null) =>
      service.pool.query('update load_balancers set task_id = $1 where id = $2', [id, one.id]);
    await hold(taskId);
    for (const refused of [
      await service.http.patch(`${V2}/${one.id}`, { name: 'other' }),
      await service.http.delete(`${BASE}/${one.id}`),
    ]) {
      expect(refused.status).toBe(409);
      expect(refused.body.message).toContain(taskId);
    }
    await hold(null);
  });
});

it('lists in the order and of the kind that is asked for', async () => {
  const mark = randomUUID().slice(0, 8);
  const first = await balancer({ name: `b ${mark}`, tags: { mark } });
  const second = await balancer({ name: `a ${mark}`, vip_network_id: network.id, tags: { mark } });
  await finished(await service.http.patch(`${V2}/${second.id}`, { admin_state_up: false }));
  const list = async (query: string) => {
    const { body, text } = await service.http.get(`${BASE}?name=${mark}&${query}`);
    expect(body.results, text).toBeDefined();
    return [body.count, body.results.map(({ id }: { id: string }) => id)];
  };
  expect(await list('')).toEqual([2, [second.id, first.id]]);
  expect(await list('order_by=name.desc')).toEqual([2, [first.id, second.id]]);
  for (const order of ['flavor', 'vip_address', 'vip_ip_family', 'updated_at', 'provisioning_status']) {
    expect((await list(`order_by=${order}.asc`))[0]).toBe(2);
  }
  expect(await list('order_by=operating_status.asc')).toEqual([2, [second.id, first.id]]);
  expect(await list('order_by=operating_status.desc&limit=1')).toEqual([2, [first.id]]);
  expect(await list('operating_status=OFFLINE')).toEqual([1, [second.id]]);
  expect(await list('provisioning_status=ERROR')).toEqual([0, []]);
  expect(await list('assigned_floating=true')).toEqual([0, []]);
  expect(await list(`tag_key=mark&limit=1&offset=1`)).toEqual([2, [first.id]]);
});

it('keeps its subnet from deletion', async () => {
  const created = await finished(
    await service.http.post('/cloud/v1/networks/1/1', { name: 'of balancers', create_router: false }),
  );
  const [network_id] = created.created_resources.networks;
  const subnet = await finished(
    await service.http.post('/cloud/v1/subnets/1/1', { name: 'own', network_id, cidr: '10.20.0.0/24' }),
  );
  const one = await balancer({ name: 'in the subnet', vip_network_id: network_id });
  const at = `/cloud/v1/subnets/1/1/${subnet.created_resources.subnets[0]}`;
  const refused = await service.http.delete(at);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(`load balancer in the subnet (${one.id})`);
  await finished(await service.http.delete(`${BASE}/${one.id}`));
  await finished(await service.http.delete(at));
});

it('offers flavors, with prices on request', async () => {
  const { body } = await service.http.get('/cloud/v1/lbflavors/1/1?include_prices=true');
  expect(body.results[0]).toMatchObject({
    flavor_id: 'lb1-1-2',
    vcpus: 1,
    price_status: 'show',
    price_per_hour: expect.any(Number),
  });
  const plain = await service.http.get('/cloud/v1/lbflavors/1/1');
  expect(plain.body.results[0]).toEqual({
    flavor_id: 'lb1-1-2',
    flavor_name: 'lb1-1-2',
    vcpus: 1,
    ram: 2048,
  });
});
