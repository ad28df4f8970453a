import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { catalogWithQuotas, changedCatalog } from '../../../../test/support/catalogs.ts';
import type { Answer, HttpClient } from '../../../../test/support/http-client.ts';
import { infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { borrowService, startService, type TestService } from '../../../../test/support/service.ts';

const ROUTERS = '/cloud/v1/routers/1/1';
const ROUTERS_V2 = '/cloud/v2/routers/1/1';
const NETWORKS = '/cloud/v1/networks/1/1';
const SUBNETS = '/cloud/v1/subnets/1/1';
const FLOATING = '/cloud/v1/floatingips/1/1';
const unknown = crypto.randomUUID();

let service: TestService;
let http: HttpClient;
let outside: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  outside = (await http.get(`${NETWORKS}?owned_by=any&external=true`)).body.results[0].id;
});
afterAll(() => service.stop());

async function done(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

const network = async (body: object = {}): Promise<string> =>
  (await done(await http.post(NETWORKS, { name: 'backend', create_router: false, ...body }))).created_resources
    .networks[0];
const subnet = async (network_id: string, cidr: string, body: object = {}): Promise<string> =>
  (await done(await http.post(SUBNETS, { name: 'desks', network_id, cidr, ...body }))).created_resources.subnets[0];
/** Makes a subnet in a network of its own, to which no router is attached. */
const loose = async (cidr: string, body: object = {}) => subnet(await network(), cidr, body);
const create = async (body: object = {}): Promise<string> =>
  (await done(await http.post(ROUTERS, { name: 'way out', ...body }))).created_resources.routers[0];
const get = async (id: string) => (await http.get(`${ROUTERS}/${id}`)).body;
const attach = (id: string, subnet_id: string, body: object = {}) =>
  http.post(`${ROUTERS}/${id}/attach`, { subnet_id, ...body });
const detach = (id: string, subnet_id: string) => http.post(`${ROUTERS}/${id}/detach`, { subnet_id });
const portsIn = async (subnetId: string) =>
  (await http.get(`/cloud/v1/ports/1/1?subnet_ids=${subnetId}`)).body.results.map(({ id }: { id: string }) => id);
const routerOf = async (networkId: string) => {
  const { rows } = await service.pool.query('select id from routers where network_id = $1', [networkId]);
  return rows[0]?.id;
};

async function instance(network_id: string, extra: object = {}) {
  const answer = await http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id, ...extra }],
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
  });
  if (answer.status !== 200) return { answer, port: '', id: '' };
  const { created_resources: made } = await done(answer);
  return { answer, port: String(made.ports[0]), id: String(made.instances[0]) };
}

function refused(answer: Answer, status: number, text: string) {
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
}

describe('a router', () => {
  it('leads subnets out, with an address of the external network', async () => {
    const subnetId = await loose('10.20.0.0/24');
    const accepted = await http.post(ROUTERS, {
      name: 'way out',
      external_gateway_info: { type: 'default', enable_snat: null },
      interfaces: [{ type: 'subnet', subnet_id: subnetId.toUpperCase() }],
      routes: [{ destination: '192.168.0.0/16', nexthop: '10.20.0.9' }],
    });
    const task = await done(accepted);
    expect(task.task_type).toBe('create_router');
    const [id] = task.created_resources.routers;
    const router = await get(id);
    expect(router).toEqual({
      id,
      name: 'way out',
      status: 'ACTIVE',
      distributed: false,
      external_gateway_info: {
        network_id: outside,
        enable_snat: true,
        external_fixed_ips: [{ ip_address: expect.stringMatching(/^198\.18\./), subnet_id: expect.any(String) }],
      },
      interfaces: [
        {
          port_id: expect.any(String),
          network_id: expect.any(String),
          mac_address: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/),
          ip_assignments: [{ ip_address: '10.20.0.1', subnet_id: subnetId }],
        },
      ],
      routes: [{ destination: '192.168.0.0/16', nexthop: '10.20.0.9' }],
      project_id: 1,
      region: 'Port Halden',
      region_id: 1,
      creator_task_id: accepted.body[0],
      task_id: null,
      created_at: expect.stringMatching(/\+0000$/),
      updated_at: expect.stringMatching(/\+0000$/),
    });
    const [fixed] = router.external_gateway_info.external_fixed_ips;
    expect((await specOf(service.pool, 'router', id)).wanted).toEqual({
      name: 'way out',
      gateway: {
        networkId: outside,
        sourceNat: true,
        addresses: { [fixed.ip_address]: { subnetId: fixed.subnet_id } },
      },
      interfaces: {
        [router.interfaces[0].port_id]: {
          networkId: router.interfaces[0].network_id,
          subnetId,
          address: '10.20.0.1',
          macAddress: router.interfaces[0].mac_address,
        },
      },
      routes: router.routes,
    });
    expect(await portsIn(subnetId)).toEqual([router.interfaces[0].port_id]);
    expect((await http.get(`${ROUTERS}?name=way%20out&limit=1`)).body).toEqual({
      count: 1,
      results: [router],
    });
    expect((await http.get(`${ROUTERS}?name=elsewhere`)).body).toEqual({ count: 0, results: [] });

    const removal = await done(await http.delete(`${ROUTERS}/${id}`));
    expect(removal.task_type).toBe('delete_router');
    expect((await http.get(`${ROUTERS}/${id}`)).status).toBe(404);
    expect(await portsIn(subnetId)).toEqual([]);
    const { rows } = await service.pool.query('select from ip_assignments where host(address) = $1', [
      fixed.ip_address,
    ]);
    expect(rows).toEqual([]);
    expect((await infrastructure(service.pool, 'router')).there).not.toContain(id);
  });

  it('changes at once, or by a task, which is left out when nothing changes', async () => {
    const id = await create();
    expect(await get(id)).toMatchObject({ external_gateway_info: null, interfaces: [], routes: [] });
    const gateway = { type: 'manual', network_id: outside, enable_snat: false };
    const task = await done(await http.patch(`${ROUTERS_V2}/${id}`, { name: 'main', external_gateway_info: gateway }));
    expect(task.task_type).toBe('update_router');
    const led = await get(id);
    expect(led).toMatchObject({ name: 'main', external_gateway_info: { enable_snat: false } });
    const same = await http.patch(`${ROUTERS_V2}/${id}`, { name: 'main', external_gateway_info: gateway });
    expect([same.status, same.body]).toEqual([200, []]);
    const waiting = await http.patch(`/gcore${ROUTERS_V2}/${id}`, { name: 'main' });
    expect((await http.get(`/cloud/v1/tasks/${waiting.body.tasks[0]}`)).body).toMatchObject({
      state: 'FINISHED',
      task_type: 'update_router',
      data: { router_id: id },
    });

    // Clients that know no null send it for fields that they leave alone.
    const now = await http.patch(`${ROUTERS}/${id}`, {
      name: null,
      routes: null,
      external_gateway_info: { network_id: outside },
    });
    expect(now.status, now.text).toBe(200);
    expect(now.body.external_gateway_info).toEqual({
      ...led.external_gateway_info,
      enable_snat: true,
    });
    const [{ subnet_id }] = led.external_gateway_info.external_fixed_ips;
    const { gateway_ip: nexthop } = (await http.get(`${SUBNETS}/${subnet_id}`)).body;
    const through = [{ destination: '192.168.0.0/16', nexthop }];
    expect((await http.patch(`${ROUTERS}/${id}`, { routes: through })).body.routes).toEqual(through);
    refused(await http.patch(`${ROUTERS_V2}/${id}`, { external_gateway_info: null }), 400, 'routes.0.nexthop');
    const bare = await done(await http.patch(`${ROUTERS_V2}/${id}`, { external_gateway_info: null, routes: [] }));
    expect(bare.state).toBe('FINISHED');
    expect(await get(id)).toMatchObject({ external_gateway_info: null, routes: [] });
    const { rows } = await service.pool.query('select from ip_assignments where router_id = $1', [id]);
    expect(rows).toEqual([]);
    const off = await http.patch(`${ROUTERS}/${id}`, { external_gateway_info: null });
    expect(off.body.external_gateway_info).toBeNull();
  });

  it.each([
    [{ name: 'x' }, 'name'],
    [{ external_gateway_info: { type: 'manual' } }, 'external_gateway_info.network_id'],
    [{ external_gateway_info: { network_id: unknown } }, 'external_gateway_info.network_id'],
    [{ external_gateway_info: { type: 'other' } }, 'external_gateway_info.type'],
    [{ interfaces: [{ subnet_id: unknown }] }, 'interfaces.0.subnet_id'],
    [{ routes: [{ destination: '10.0.0.1/8', nexthop: '10.0.0.1' }] }, 'routes.0.destination'],
    [{ routes: [{ destination: '10.0.0.0/8', nexthop: '192.168.0.1' }] }, 'routes.0.nexthop'],
    [{ tags: { env: 'test' } }, 'tags'],
  ])('is refused: %j', async (body, field) => {
    const before = (await http.get(ROUTERS)).body.count;
    const answer = await http.post(ROUTERS, { name: 'wrong', ...body });
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
    expect((await http.get(ROUTERS)).body.count).toBe(before);
  });

  it('is refused with the external network by type default and by id at once, and with an own network', async () => {
    const post = (external_gateway_info: object) => http.post(ROUTERS, { name: 'wrong', external_gateway_info });
    refused(await post({ type: 'default', network_id: outside }), 400, 'Is only allowed with type manual');
    refused(await post({ network_id: await network() }), 400, 'No external network');
    const twice = await loose('10.21.0.0/24');
    const interfaces = [{ subnet_id: twice }, { subnet_id: twice }];
    refused(await http.post(ROUTERS, { name: 'wrong', interfaces }), 400, 'interfaces.1.subnet_id');
    const nothing = [
      await http.patch(`${ROUTERS}/${unknown}`, {}),
      await http.patch(`${ROUTERS_V2}/${unknown}`, {}),
      await http.delete(`${ROUTERS}/none`),
      await attach(unknown, twice),
      await detach(unknown, twice),
    ];
    expect(nothing.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });

  it('takes a type default only when it is made', async () => {
    const id = await create();
    const change = { external_gateway_info: { type: 'default' } };
    expect((await http.patch(`${ROUTERS}/${id}`, change)).status).toBe(400);
    expect((await http.patch(`${ROUTERS_V2}/${id}`, change)).status).toBe(400);
  });
});

describe('an interface', () => {
  it('has the gateway address or another one, once for each subnet and address', async () => {
    const [id, other] = [await create(), await create({ name: 'other' })];
    const subnetId = await loose('10.22.0.0/24');
    const attached = await attach(id, subnetId);
    expect(attached.status, attached.text).toBe(200);
    expect(attached.body.interfaces).toMatchObject([
      { ip_assignments: [{ ip_address: '10.22.0.1', subnet_id: subnetId }] },
    ]);
    refused(await attach(id, subnetId), 409, 'already attached');
    const next = await attach(await create({ name: 'next' }), subnetId);
    expect(next.body.interfaces, next.text).toMatchObject([
      { ip_assignments: [{ ip_address: '10.22.0.2', subnet_id: subnetId }] },
    ]);
    refused(await attach(other, subnetId, { ip_address: '10.23.0.1' }), 400, 'ip_address');
    refused(await attach(other, subnetId, { ip_address: 'here' }), 400, 'ip_address');
    const second = await attach(other, subnetId, { ip_address: '10.22.0.200' });
    expect(second.body.interfaces).toMatchObject([
      { ip_assignments: [{ ip_address: '10.22.0.200', subnet_id: subnetId }] },
    ]);
    const third = await create({ name: 'third' });
    refused(await attach(third, subnetId, { ip_address: '10.22.0.200' }), 409, 'already in use');
    expect((await http.get(`${SUBNETS}/${subnetId}`)).body.available_ips).toBe(251);
    expect((await detach(other, subnetId)).body.interfaces).toEqual([]);
    expect((await http.get(`${SUBNETS}/${subnetId}`)).body.available_ips).toBe(252);
    refused(await detach(other, subnetId), 400, 'is not attached');
  });

  it('needs an address, a free range and a subnet of the project', async () => {
    const id = await create({ external_gateway_info: {} });
    const without = await loose('10.24.0.0/24', { gateway_ip: null, connect_to_network_router: false });
    refused(await attach(id, without), 400, 'no gateway address');
    expect((await attach(id, without, { ip_address: '10.24.0.7' })).status).toBe(200);
    refused(await attach(id, await loose('10.24.0.128/25')), 409, 'overlaps 10.24.0.0/24');
    const [range] = (await http.get(`${NETWORKS}/${outside}`)).body.subnets;
    const { cidr } = (await http.get(`${SUBNETS}/${range}`)).body;
    refused(await attach(id, await loose(cidr)), 409, `overlaps ${cidr}`);
    refused(await attach(id, range), 400, 'No subnet');
    refused(await attach(id, unknown), 400, 'No subnet');
  });

  it('stays while routes go through its subnet, and follows the gateway', async () => {
    const subnetId = await loose('10.25.0.0/24');
    const id = await create({
      interfaces: [{ subnet_id: subnetId }],
      routes: [{ destination: '192.168.0.0/16', nexthop: '10.25.0.9' }],
    });
    refused(await detach(id, subnetId), 409, '192.168.0.0/16 by 10.25.0.9');
    refused(await http.delete(`${SUBNETS}/${subnetId}`), 409, 'has routes through the subnet');
    const move = (gateway_ip: string | null) => http.patch(`${SUBNETS}/${subnetId}`, { gateway_ip });
    refused(await move('10.25.0.9'), 409, 'has a route through 10.25.0.9');
    refused(await move(null), 409, '192.168.0.0/16 by 10.25.0.9');
    expect((await http.get(`${SUBNETS}/${subnetId}`)).body.gateway_ip).toBe('10.25.0.1');
    expect((await http.patch(`${ROUTERS}/${id}`, { routes: [] })).status).toBe(200);
    const own = async () =>
      (await get(id)).interfaces.map(
        (one: { ip_assignments: { ip_address: string }[] }) => one.ip_assignments[0]?.ip_address,
      );
    for (const gateway of ['10.25.0.2', '10.25.0.1', '10.25.0.3']) {
      expect((await move(gateway)).body.gateway_ip).toBe(gateway);
      expect(await own()).toEqual([gateway]);
    }
    expect(Object.values((await specOf(service.pool, 'router', id)).wanted?.interfaces ?? {})).toMatchObject([
      { address: '10.25.0.3' },
    ]);
    // Without a gateway it is not routed.
    expect((await move(null)).body.gateway_ip).toBeNull();
    expect(await own()).toEqual([]);
    expect((await move('10.25.0.1')).status).toBe(200);
    expect(await own()).toEqual([]);
    expect((await attach(id, subnetId)).status).toBe(200);
    expect((await detach(id, subnetId)).status).toBe(200);
  });

  it('is a port that its router manages', async () => {
    const subnetId = await loose('10.27.0.0/24');
    const [id, other] = [await create({ interfaces: [{ subnet_id: subnetId }] }), await create()];
    await attach(other, subnetId, { ip_address: '10.27.0.9' });
    const [first] = (await get(id)).interfaces;
    const PORTS = '/cloud/v1/ports/1/1';
    const port = (await http.get(`${PORTS}/${first.port_id}`)).body;
    expect(port).toEqual({
      id: first.port_id,
      network_id: first.network_id,
      mac_address: first.mac_address,
      ip_assignments: first.ip_assignments,
      security_group_ids: [],
      allowed_address_pairs: [],
      port_security_enabled: false,
      managed_by: 'system',
      capabilities: { allowed_address_pairs: false, port_security: false, security_groups: false },
      tags: {},
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    for (const query of [`ids=${port.id}`, 'ip_addresses=10.27.0.1']) {
      expect((await http.get(`${PORTS}?${query}`)).body).toEqual({ count: 1, results: [port] });
    }
    for (const query of [`subnet_ids=${subnetId}`, `network_ids=${port.network_id}&order_by=created_at.desc`]) {
      const { count, results } = (await http.get(`${PORTS}?${query}&limit=1`)).body;
      expect([count, results[0].ip_assignments[0].ip_address]).toEqual([2, '10.27.0.9']);
    }
    for (const answer of [
      await http.patch(`${PORTS}/${port.id}`, { tags: { env: 'test' } }),
      await http.post(`${PORTS}/${port.id}/enable_port_security`),
      await http.put(`/cloud/v2/ports/1/1/${port.id}/allow_address_pairs`, {}),
    ]) {
      refused(answer, 409, `an interface of router ${id}`);
    }
    refused(await http.post(FLOATING, { port_id: port.id }), 400, 'port_id');
  });

  it('goes with its subnet', async () => {
    const subnetId = await loose('10.26.0.0/24');
    const id = await create();
    expect((await attach(id, subnetId, { ip_address: '10.26.0.9' })).status).toBe(200);
    await done(await http.delete(`${SUBNETS}/${subnetId}`));
    expect((await get(id)).interfaces).toEqual([]);
    expect((await specOf(service.pool, 'router', id)).wanted).toMatchObject({ interfaces: {} });
  });
});

describe('a network', () => {
  it('comes with a router that leads out, unless the request says otherwise, and goes with it', async () => {
    const name = `n${'a'.repeat(62)}`;
    const task = await done(await http.post(NETWORKS, { name }));
    const { networks, routers } = task.created_resources;
    expect(routers).toHaveLength(1);
    const router = await get(routers[0]);
    expect(router).toMatchObject({
      name: `n${'a'.repeat(55)}_router`,
      creator_task_id: task.id,
      task_id: null,
      external_gateway_info: { network_id: outside, enable_snat: true },
      interfaces: [],
    });
    const subnetId = await subnet(networks[0], '10.30.0.0/24');
    const apart = await subnet(networks[0], '10.31.0.0/24', { connect_to_network_router: false });
    expect((await get(router.id)).interfaces).toMatchObject([{ ip_assignments: [{ subnet_id: subnetId }] }]);
    expect(await portsIn(apart)).toEqual([]);
    await done(await http.delete(`${NETWORKS}/${networks[0]}`));
    expect((await http.get(`${ROUTERS}/${router.id}`)).status).toBe(404);

    const bare = await done(await http.post(NETWORKS, { name: 'bare', create_router: false }));
    expect(bare.created_resources).toEqual({ networks: [expect.any(String)] });
    await subnet(bare.created_resources.networks[0], '10.32.0.0/24');
  });

  it('leaves its router where that has subnets of other networks', async () => {
    const [networkId, elsewhere] = [await network({ create_router: true }), await loose('10.33.0.0/24')];
    const id = await routerOf(networkId);
    await subnet(networkId, '10.34.0.0/24');
    expect((await attach(id, elsewhere)).status).toBe(200);
    await done(await http.delete(`${NETWORKS}/${networkId}`));
    expect((await get(id)).interfaces).toMatchObject([{ ip_assignments: [{ subnet_id: elsewhere }] }]);
  });

  it('does without its router once that is removed', async () => {
    const networkId = await network({ create_router: true });
    await done(await http.delete(`${ROUTERS}/${await routerOf(networkId)}`));
    const subnetId = await subnet(networkId, '10.35.0.0/24');
    expect(await portsIn(subnetId)).toEqual([]);
    await done(await http.delete(`${NETWORKS}/${networkId}`));
  });
});

describe('a new subnet', () => {
  it('is attached to the router that the request names', async () => {
    const [networkId, id] = [await network({ create_router: true }), await create()];
    const subnetId = await subnet(networkId, '10.36.0.0/24', { router_id_to_connect: id });
    expect((await get(id)).interfaces).toMatchObject([{ ip_assignments: [{ subnet_id: subnetId }] }]);
    expect((await get(await routerOf(networkId))).interfaces).toEqual([]);
  });

  it('is refused with an unknown router, with one and none, and where it overlaps', async () => {
    const networkId = await network();
    const post = (body: object) =>
      http.post(SUBNETS, { name: 'desks', network_id: networkId, cidr: '10.37.0.0/24', ...body });
    refused(await post({ router_id_to_connect: unknown }), 400, 'router_id_to_connect');
    const id = await create({ interfaces: [{ subnet_id: await loose('10.37.0.0/16') }] });
    const both = { router_id_to_connect: id, connect_to_network_router: false };
    refused(await post(both), 400, 'router_id_to_connect');
    refused(await post({ router_id_to_connect: id }), 409, 'overlaps 10.37.0.0/16');
    expect((await http.get(`${SUBNETS}?network_id=${networkId}`)).body.count).toBe(0);
  });
});

describe('a floating IP', () => {
  it('needs a router that leads out, which stays as long as it needs it', async () => {
    const networkId = await network();
    const subnetId = await subnet(networkId, '10.40.0.0/24');
    const { port } = await instance(networkId);
    const floating = (await done(await http.post(FLOATING, {}))).created_resources.floatingips[0];
    const noRouter = 'No router leads out of subnet desks';
    refused(await http.post(`${FLOATING}/${floating}/assign`, { port_id: port }), 409, noRouter);
    refused(await http.post(FLOATING, { port_id: port }), 409, noRouter);
    const v2 = `/cloud/v2/floatingips/1/1/${floating}`;
    refused(await http.patch(v2, { port_id: port }), 409, noRouter);
    const before = (await http.get('/cloud/v1/instances/1/1')).body.count;
    refused((await instance(networkId, { floating_ip: { source: 'new' } })).answer, 409, noRouter);
    expect((await http.get('/cloud/v1/instances/1/1')).body.count).toBe(before);

    const id = await create({ interfaces: [{ subnet_id: subnetId }] });
    refused(await http.post(`${FLOATING}/${floating}/assign`, { port_id: port }), 409, noRouter);
    const gateway = { external_gateway_info: { network_id: outside } };
    await done(await http.patch(`${ROUTERS_V2}/${id}`, gateway));
    const assigned = await http.post(`${FLOATING}/${floating}/assign`, { port_id: port });
    expect(assigned.status, assigned.text).toBe(200);
    expect(assigned.body).toMatchObject({ status: 'ACTIVE', router_id: id });
    expect((await specOf(service.pool, 'floating_ip', floating)).wanted).toMatchObject({
      target: { portId: port, routerId: id },
    });

    const address = assigned.body.floating_ip_address;
    refused(await detach(id, subnetId), 409, address);
    refused(await http.delete(`${ROUTERS}/${id}`), 409, address);
    refused(await http.patch(`${ROUTERS}/${id}`, { external_gateway_info: null }), 409, address);
    refused(await http.patch(`${ROUTERS_V2}/${id}`, { external_gateway_info: null }), 409, address);

    // Another way out is as good.
    const second = await create({ name: 'second', external_gateway_info: {} });
    expect((await attach(second, subnetId, { ip_address: '10.40.0.9' })).status).toBe(200);
    expect((await http.get(`${FLOATING}/${floating}`)).body.router_id).toBe(id);
    await done(await http.delete(`${ROUTERS}/${id}`));
    expect((await http.get(`${FLOATING}/${floating}`)).body).toMatchObject({
      router_id: second,
      status: 'ACTIVE',
    });
    refused(await detach(second, subnetId), 409, address);
    expect((await http.post(`${FLOATING}/${floating}/unassign`)).status).toBe(200);
    expect((await detach(second, subnetId)).status).toBe(200);
  });

  it('comes with an instance in a network as it is made by default', async () => {
    const networkId = await network({ create_router: true });
    await subnet(networkId, '10.41.0.0/24');
    const { answer, port } = await instance(networkId, { floating_ip: { source: 'new' } });
    expect(answer.status, answer.text).toBe(200);
    const [listed] = (await http.get(`${FLOATING}?port_ids=${port}`)).body.results;
    expect(listed).toMatchObject({ status: 'ACTIVE', router_id: await routerOf(networkId) });
  });

  it('works in the default network, which the platform routes until a router takes over', async () => {
    const { id: networkId, subnets } = (await http.get(`${NETWORKS}?name=default`)).body.results[0];
    const { port } = await instance(networkId);
    const floating = (await done(await http.post(FLOATING, { port_id: port }))).created_resources.floatingips[0];
    const { floating_ip_address: address, router_id } = (await http.get(`${FLOATING}/${floating}`)).body;
    expect(router_id).toBeNull();
    const nowhere = await create();
    refused(await attach(nowhere, subnets[0]), 409, address);
    refused(await http.post(ROUTERS, { name: 'nowhere', interfaces: [{ subnet_id: subnets[0] }] }), 409, address);
    const id = await create({ external_gateway_info: {}, interfaces: [{ subnet_id: subnets[0] }] });
    expect((await http.get(`${FLOATING}/${floating}`)).body.router_id).toBe(id);
    refused(await http.patch(`${ROUTERS}/${id}`, { external_gateway_info: null }), 409, address);
    expect((await detach(id, subnets[0])).status).toBe(200);
    expect((await http.get(`${FLOATING}/${floating}`)).body.router_id).toBeNull();
    await done(await http.delete(`${FLOATING}/${floating}`));
  });
});

it('routers are of one project: another account sees and reaches none', async () => {
  const other = await service.otherTenant();
  const [id, subnetId] = [await create(), await loose('10.50.0.0/24')];
  const at = `/cloud/v1/routers/${other.projectId}/1`;
  expect((await other.http.get(`${at}/${id}`)).status).toBe(404);
  expect((await other.http.delete(`${at}/${id}`)).status).toBe(404);
  refused(await other.http.post(at, { name: 'theirs', interfaces: [{ subnet_id: subnetId }] }), 400, 'No subnet');
  const made = await other.http.post(at, { name: 'theirs' });
  const theirs = (await other.http.task(made.body[0])).created_resources.routers[0];
  refused(await other.http.post(`${at}/${theirs}/attach`, { subnet_id: subnetId }), 400, 'No subnet');
  refused(await attach(theirs, subnetId), 404, 'not found');
  expect((await other.http.get(at)).body.count).toBe(1);
});

it('of requests at the same time, one gets the gateway address, and a floating IP never loses its way out', async () => {
  const networkId = await network();
  const subnetId = await subnet(networkId, '10.51.0.0/24');
  const ids = await Promise.all([1, 2, 3].map(() => create({ external_gateway_info: {} })));
  const attached = await Promise.all(ids.map((id) => attach(id, subnetId)));
  expect(attached.map(({ status }) => status)).toEqual([200, 200, 200]);
  const addresses = attached.map(({ body }) => body.interfaces[0].ip_assignments[0].ip_address);
  expect(new Set(addresses)).toEqual(new Set(['10.51.0.1', '10.51.0.2', '10.51.0.3']));
  const id = ids[addresses.indexOf('10.51.0.1')] ?? '';
  for (const other of ids) if (other !== id) await detach(other, subnetId);
  const { port } = await instance(networkId);
  const floating = (await done(await http.post(FLOATING, {}))).created_resources.floatingips[0];
  for (let round = 0; round < 5; round++) {
    const [assigned, taken] = await Promise.all([
      http.post(`${FLOATING}/${floating}/assign`, { port_id: port }),
      detach(id, subnetId),
    ]);
    const statuses = [assigned, taken].map(({ status }) => String(status));
    expect(statuses.sort(), `${assigned.text} ${taken.text}`).toEqual(['200', '409']);
    if (taken.status === 200) expect((await attach(id, subnetId)).status).toBe(200);
    else expect((await http.post(`${FLOATING}/${floating}/unassign`)).status).toBe(200);
  }
});

it('a project with routers stays', async () => {
  const { id } = (await http.post('/cloud/v1/projects', { name: 'with a router' })).body;
  const made = await http.post(`/cloud/v1/routers/${id}/1`, { name: 'left' });
  const [router] = (await http.task(made.body[0])).created_resources.routers;
  refused(await http.delete(`/cloud/v1/projects/${id}`), 409, 'routers: 1');
  await done(await http.delete(`/cloud/v1/routers/${id}/1/${router}`));
  await done(await http.delete(`/cloud/v1/projects/${id}`));
});

it('clusters need a subnet with a router', async () => {
  const fixed_subnet = await loose('10.52.0.0/24');
  const key = await http.post('/cloud/v1/ssh_keys/1', { name: 'of a cluster' });
  const body = {
    name: 'routed',
    version: 'v1.32.13',
    keypair: key.body.name,
    fixed_subnet,
    pools: [{ name: 'gpu', flavor_id: 'bm3-ai-8xlarge-gpu-h100-8', min_node_count: 1 }],
  };
  const CLUSTERS = '/cloud/v2/k8s/clusters/1/1';
  refused(await http.post(CLUSTERS, body), 400, 'Has no router');
  await create({ interfaces: [{ subnet_id: fixed_subnet }] });
  const accepted = await http.post(CLUSTERS, body);
  expect(accepted.status, accepted.text).toBe(200);
});

it('routers and networks with one count towards the quota of routers', async () => {
  const catalog = catalogWithQuotas({ router_count: 1 });
  const limited = await startService({ TRADEWIND_CATALOG_DIR: catalog });
  try {
    const at = ROUTERS;
    const first = await limited.http.post(at, { name: 'first' });
    const [id] = (await limited.http.task(first.body[0])).created_resources.routers;
    for (const answer of [
      await limited.http.post(at, { name: 'second' }),
      await limited.http.post(NETWORKS, { name: 'routed' }),
    ]) {
      refused(answer, 403, 'router_count');
    }
    expect((await limited.http.get(`${NETWORKS}?name=routed`)).body.count).toBe(0);
    await limited.http.task((await limited.http.delete(`${at}/${id}`)).body[0]);
    const routed = await limited.http.post(NETWORKS, { name: 'routed' });
    const { networks } = (await limited.http.task(routed.body[0])).created_resources;
    refused(await limited.http.post(at, { name: 'second' }), 403, 'router_count');
    await limited.http.task((await limited.http.delete(`${NETWORKS}/${networks[0]}`)).body[0]);
    expect((await limited.http.post(at, { name: 'second' })).status).toBe(200);
  } finally {
    await limited.stop();
    fs.rmSync(catalog, { recursive: true });
  }
});

it('a network that goes releases its quotas in the order in which new ones take them', async () => {
  const id = await network({ create_router: true });
  const creating = await service.pool.connect();
  try {
    const take = (attribute: string, how = '') =>
      creating.query(`select from quota_usage where attribute = $1 and client_id = 1 for update ${how}`, [attribute]);
    await creating.query('begin');
    await take('network_count');
    const answer = await http.delete(`${NETWORKS}/${id}`);
    const waiting = async () => {
      const { rows } = await service.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ilike '%quota_usage%'`,
      );
      return rows.length;
    };
    await expect.poll(waiting).toBe(1);
    await take('router_count', 'nowait');
    await creating.query('commit');
    await done(answer);
  } finally {
    creating.release(true);
  }
});

it('a region without an external network has routers that lead nowhere', async () => {
  const catalog = changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: regions.map((region) => ({ ...region, external_network_id: null, external_networks: [] })),
  }));
  const inland = await startService({ TRADEWIND_CATALOG_DIR: catalog });
  try {
    const made = await inland.http.post(NETWORKS, { name: 'inland' });
    const [id] = (await inland.http.task(made.body[0])).created_resources.routers;
    expect((await inland.http.get(`${ROUTERS}/${id}`)).body.external_gateway_info).toBeNull();
    const wish = { name: 'outward', external_gateway_info: { type: 'default' } };
    refused(await inland.http.post(ROUTERS, wish), 400, 'no external network');
  } finally {
    await inland.stop();
    fs.rmSync(catalog, { recursive: true });
  }
});

describe('metrics', () => {
  const HOUR = { time_unit: 'hour', time_interval: 1 };
  const ask = (id: string, body: object = HOUR) => http.post(`${ROUTERS}/${id}/metrics`, body);

  it('are zero for the gateway and each interface, from when it was there', async () => {
    const id = await create({ external_gateway_info: { type: 'default' } });
    await service.pool.query(`update routers set created_at = created_at - interval '2 hours' where id = $1`, [id]);
    await attach(id, await loose('10.61.1.0/24'));
    const router = await get(id);
    const { status, body, text } = await ask(id);
    expect(status, text).toBe(200);
    const [inside] = router.interfaces;
    expect(body).toMatchObject({
      count: 2,
      results: [
        {
          interface_type: 'public',
          port_id: id,
          network_id: outside,
          ip_addresses: router.external_gateway_info.external_fixed_ips.map(
            (one: { ip_address: string }) => one.ip_address,
          ),
        },
        {
          interface_type: 'private',
          port_id: inside.port_id,
          network_id: inside.network_id,
          ip_addresses: ['10.61.1.1'],
        },
      ],
    });
    const [gateway, own] = body.results;
    expect(gateway.metrics).toHaveLength(60);
    expect(own.metrics.length).toBeLessThan(60);
    const still = {
      network_bps_ingress: 0,
      network_bps_egress: 0,
      network_pps_ingress: 0,
      network_pps_egress: 0,
    };
    for (const point of gateway.metrics) expect(point).toEqual({ time: expect.any(String), ...still });
  });

  it('have no public part without a gateway, and none of a router that is not there', async () => {
    expect((await ask(await create())).body).toEqual({ count: 0, results: [] });
    for (const id of [unknown, 'none']) expect((await ask(id)).status).toBe(404);
  });

  it.each([
    [{}, 'time_unit'],
    [{ ...HOUR, time_unit: 'week' }, 'time_unit'],
    [{ ...HOUR, time_interval: 0 }, 'time_interval'],
    [{ ...HOUR, time_interval: '1' }, 'time_interval'],
    [{ ...HOUR, colour: 'red' }, 'colour'],
  ])('are refused for %j', async (body, field) => {
    const answer = await ask(unknown, body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toContain(field);
  });
});
