import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterBody } from '../../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const NETWORKS = '/cloud/v1/networks/1/1';
const SUBNETS = '/cloud/v1/subnets/1/1';
const INSTANCES = '/cloud/v2/instances/1/1';

let service: TestService;
let imageId: string;
beforeAll(async () => {
  service = await borrowService();
  imageId = (await service.http.get('/cloud/v1/images/1/1')).body.results[0].id;
});
afterAll(() => service.stop());

async function finished(answer: { status: number; text: string; body: string[] }) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  const task = await service.http.task(answer.body[0] ?? '');
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}

async function madeNetwork(): Promise<string> {
  const task = await finished(await service.http.post(NETWORKS, { name: 'made' }));
  return task.created_resources.networks[0];
}

const post = (network_id: string, body: object = {}) =>
  service.http.post(SUBNETS, { name: 'part', network_id, cidr: '10.10.0.0/24', ...body });

async function madeSubnet(networkId: string, body: object = {}) {
  const task = await finished(await post(networkId, body));
  return (await service.http.get(`${SUBNETS}/${task.created_resources.subnets[0]}`)).body;
}

const newInstance = (networkId: string, extra: object = {}) =>
  service.http.post(INSTANCES, {
    name: 'guest',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id: networkId, ...extra }],
    volumes: [{ source: 'image', image_id: imageId, size: 20 }],
  });

async function addressesIn(subnetId: string): Promise<{ address: string; port: string | null }[]> {
  const { rows } = await service.pool.query(
    'select host(address) as address, port_id as port from ip_assignments where subnet_id = $1 order by 1',
    [subnetId],
  );
  return rows;
}

describe('a subnet', () => {
  it('is made by one task, in canonical form, with the first address for the gateway', async () => {
    const networkId = await madeNetwork();
    const subnet = await madeSubnet(networkId, {
      cidr: '10.10.0.0/24',
      dns_nameservers: ['1.1.1.1'],
      host_routes: [{ destination: '192.168.0.0/16', nexthop: '10.10.0.5' }],
      tags: { env: 'test' },
    });
    expect(subnet).toMatchObject({
      cidr: '10.10.0.0/24',
      ip_version: 4,
      enable_dhcp: true,
      gateway_ip: '10.10.0.1',
      dns_nameservers: ['1.1.1.1'],
      host_routes: [{ destination: '192.168.0.0/16', nexthop: '10.10.0.5' }],
      total_ips: 253,
      available_ips: 253,
      tags: [{ key: 'env', value: 'test', read_only: false }],
      network_id: networkId,
      project_id: 1,
      task_id: null,
    });
    expect((await service.http.get(`${NETWORKS}/${networkId}`)).body.subnets).toEqual([subnet.id]);
  });

  it('has no gateway when null is sent, and then all addresses', async () => {
    const subnet = await madeSubnet(await madeNetwork(), {
      gateway_ip: null,
      connect_to_network_router: false,
      dns_nameservers: null,
      host_routes: null,
    });
    expect(subnet).toMatchObject({ gateway_ip: null, total_ips: 254, dns_nameservers: [], host_routes: [] });
  });

  it.each([
    [{ cidr: '10.10.0.0/30' }, 'cidr'],
    [{ cidr: '10.10.0.9/24' }, 'cidr'],
    [{ cidr: 'fd00::1/64', ip_version: 6 }, 'cidr'],
    [{ cidr: 'fe80::/64' }, 'cidr'],
    [{ cidr: '10.0' }, 'cidr'],
    [{ gateway_ip: '10.11.0.1' }, 'gateway_ip'],
    [{ gateway_ip: '10.10.0.255' }, 'gateway_ip'],
    [{ gateway_ip: null }, 'connect_to_network_router'],
    [{ router_id_to_connect: crypto.randomUUID() }, 'router_id_to_connect'],
    [{ ip_version: 6 }, 'ip_version'],
    [{ cidr: 'fd00::/64', ip_version: 4 }, 'ip_version'],
    [{ cidr: 'fd00::/64', gateway_ip: '10.10.0.1' }, 'gateway_ip'],
    [
      { cidr: 'fd00::/64', host_routes: [{ destination: '10.0.0.0/8', nexthop: 'fd00::1' }] },
      'host_routes.0.destination',
    ],
    [{ host_routes: [{ destination: '10.5.0.1/16', nexthop: '10.10.0.1' }] }, 'host_routes.0.destination'],
    [{ dns_nameservers: ['dns'] }, 'dns_nameservers.0'],
    [{ dns_nameservers: ['1.1.1.1', '2606:4700:4700::1111'] }, 'dns_nameservers.1'],
    [{ cidr: 'fd00::/64', dns_nameservers: ['1.1.1.1'] }, 'dns_nameservers.0'],
    [{ host_routes: [{ destination: 'x', nexthop: '10.10.0.1' }] }, 'host_routes.0.destination'],
    [{ network_id: crypto.randomUUID() }, 'network_id'],
    [{ name: '-' }, 'name'],
  ])('is refused with %j', async (body, field) => {
    const { body: networks } = await service.http.get(`${NETWORKS}?name=default`);
    const answer = await post(networks.results[0].id, body);
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
  });

  it('overlaps no other of its network, however many are asked for at once', async () => {
    const networkId = await madeNetwork();
    const answers = await Promise.all(
      ['10.0.0.0/8', '10.10.0.0/24', '10.10.0.128/25', '10.10.0.0/16'].map((cidr) => post(networkId, { cidr })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.message).toContain('overlaps');
    expect((await post(networkId, { cidr: '11.0.0.0/24' })).status).toBe(200);
    // In another network, the same range is free.
    expect((await post(await madeNetwork(), { cidr: '10.10.0.0/24' })).status).toBe(200);
  });
});

describe('a gateway in the middle', () => {
  it('is never handed out, whatever else is', async () => {
    const networkId = await madeNetwork();
    const subnet = await madeSubnet(networkId, { cidr: '10.20.0.0/29', gateway_ip: '10.20.0.3' });
    expect(subnet).toMatchObject({ total_ips: 5, available_ips: 5 });
    expect((await newInstance(networkId, { ip_address: '10.20.0.3' })).status).toBe(409);
    const answers = await Promise.all(Array.from({ length: 7 }, () => newInstance(networkId)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 409, 409]);
    expect(await addressesIn(subnet.id)).toEqual(
      [1, 2, 3, 4, 5, 6].map((end) => ({
        address: `10.20.0.${end}`,
        port: end === 3 ? null : expect.any(String),
      })),
    );
    expect((await service.http.get(`${SUBNETS}/${subnet.id}`)).body).toMatchObject({
      total_ips: 5,
      available_ips: 0,
    });
  });

  it('gives its address back when it moves, and takes none that a port has', async () => {
    const networkId = await madeNetwork();
    const subnet = await madeSubnet(networkId, { cidr: '10.20.0.0/29', gateway_ip: '10.20.0.3' });
    await finished(await newInstance(networkId, { ip_address: '10.20.0.4' }));
    const change = (gateway_ip: string | null) => service.http.patch(`${SUBNETS}/${subnet.id}`, { gateway_ip });
    const taken = await change('10.20.0.4');
    expect(taken.status).toBe(409);
    expect(taken.body.message).toContain('10.20.0.4');
    expect((await change('10.20.0.2')).body).toMatchObject({ gateway_ip: '10.20.0.2', available_ips: 4 });
    expect((await change(null)).body).toMatchObject({ gateway_ip: null, total_ips: 6, available_ips: 5 });
    await finished(await newInstance(networkId));
    await finished(await newInstance(networkId));
    expect((await addressesIn(subnet.id)).map(({ address }) => address)).toEqual([
      '10.20.0.1',
      '10.20.0.2',
      '10.20.0.4',
    ]);
    expect((await change('10.20.0.1')).status).toBe(409);
    expect((await change('10.21.0.1')).status).toBe(400);
  });
});

describe('a change', () => {
  it('without a gateway keeps none when an older client repeats that with an empty text', async () => {
    const subnet = await madeSubnet(await madeNetwork(), {
      gateway_ip: null,
      connect_to_network_router: false,
    });
    const renamed = (base: string) =>
      service.http.patch(`${base}${SUBNETS}/${subnet.id}`, { name: 'renamed', gateway_ip: '' });
    expect((await renamed('/gcore')).body).toMatchObject({ name: 'renamed', gateway_ip: null });
    expect((await renamed('')).status).toBe(400);
  });

  it('sets what is named and leaves the rest', async () => {
    const subnet = await madeSubnet(await madeNetwork(), {
      tags: { env: 'test' },
      dns_nameservers: ['1.1.1.1'],
    });
    const path = `${SUBNETS}/${subnet.id}`;
    const first = await service.http.patch(path, { name: 'renamed', enable_dhcp: false });
    expect(first.body).toMatchObject({ name: 'renamed', enable_dhcp: false, dns_nameservers: ['1.1.1.1'] });
    const second = await service.http.patch(path, {
      dns_nameservers: [],
      host_routes: [{ destination: '0.0.0.0/0', nexthop: '10.10.0.9' }],
      tags: { env: null, owner: 'me' },
    });
    expect(second.body).toMatchObject({
      name: 'renamed',
      dns_nameservers: [],
      host_routes: [{ destination: '0.0.0.0/0', nexthop: '10.10.0.9' }],
      tags: [{ key: 'owner', value: 'me' }],
    });
    for (const wrong of [
      { host_routes: [{ destination: 'x', nexthop: 'y' }] },
      { dns_nameservers: ['2606:4700:4700::1111'] },
    ]) {
      expect((await service.http.patch(path, wrong)).status).toBe(400);
    }
  });

  it('keeps its name where null is sent for it', async () => {
    const subnet = await madeSubnet(await madeNetwork());
    const answer = await service.http.patch(`${SUBNETS}/${subnet.id}`, { name: null });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.name).toBe(subnet.name);
  });

  it("is 403 for the platform's subnets, 404 for what isn't there, 409 while a task holds it", async () => {
    const external = (await service.http.get(`${NETWORKS}?owned_by=any&external=true`)).body.results[0];
    expect((await service.http.patch(`${SUBNETS}/${external.subnets[0]}`, { name: 'mine' })).status).toBe(403);
    expect((await service.http.delete(`${SUBNETS}/${external.subnets[0]}`)).status).toBe(403);
    expect((await service.http.patch(`${SUBNETS}/${crypto.randomUUID()}`, { name: 'mine' })).status).toBe(404);
    expect((await service.http.delete(`${SUBNETS}/no-id`)).status).toBe(404);
    const subnet = await madeSubnet(await madeNetwork());
    const holder = crypto.randomUUID();
    await service.pool.query('update subnets set task_id = $2 where id = $1', [subnet.id, holder]);
    const held = await service.http.patch(`${SUBNETS}/${subnet.id}`, { name: 'mine' });
    expect(held.status).toBe(409);
    expect(held.body.message).toContain(holder);
  });
});

describe('deletion', () => {
  it('is refused while a port is there, names it, and works once it is gone', async () => {
    const networkId = await madeNetwork();
    const subnet = await madeSubnet(networkId);
    const task = await finished(await newInstance(networkId));
    const [instanceId] = task.created_resources.instances;
    for (const path of [`${SUBNETS}/${subnet.id}`, `${NETWORKS}/${networkId}`]) {
      const answer = await service.http.delete(path);
      expect(answer.status).toBe(409);
      expect(answer.body.message).toContain(task.created_resources.ports[0]);
      expect(answer.body.message).toContain(instanceId);
    }
    await finished(await service.http.delete(`/cloud/v1/instances/1/1/${instanceId}`));
    await finished(await service.http.delete(`${SUBNETS}/${subnet.id}`));
    expect((await service.http.get(`${SUBNETS}/${subnet.id}`)).status).toBe(404);
  });

  it('of a network takes its subnets and their quota along', async () => {
    const networkId = await madeNetwork();
    const used = async () =>
      (await service.pool.query(`select used::int from quota_usage where attribute = 'subnet_count'`)).rows[0].used;
    const subnet = await madeSubnet(networkId, { gateway_ip: '10.10.0.7' });
    const before = await used();
    await finished(await service.http.delete(`${NETWORKS}/${networkId}`));
    expect((await service.http.get(`${SUBNETS}/${subnet.id}`)).status).toBe(404);
    expect(await used()).toBe(before - 1);
    expect(await addressesIn(subnet.id)).toEqual([]);
  });

  it('leaves no port behind when machines are asked for at the same time', async () => {
    const networkId = await madeNetwork();
    await madeSubnet(networkId);
    const [removal, ...machines] = await Promise.all([
      service.http.delete(`${NETWORKS}/${networkId}`),
      ...Array.from({ length: 6 }, () => newInstance(networkId)),
    ]);
    const made = machines.filter(({ status }) => status === 200);
    expect(machines.every(({ status }) => [200, 400, 409].includes(status))).toBe(true);
    expect(removal?.status).toBe(made.length > 0 ? 409 : 200);
    for (const { body } of [...made, ...(removal?.status === 200 ? [removal] : [])]) {
      expect(await service.http.task(body[0])).toMatchObject({ state: 'FINISHED' });
    }
  });

  it('is refused for the subnet of the default network, and while a cluster lies in it', async () => {
    const { body } = await service.http.get(`${NETWORKS}?name=default`);
    expect((await service.http.delete(`${SUBNETS}/${body.results[0].subnets[0]}`)).status).toBe(409);
    const networkId = await madeNetwork();
    const subnet = await madeSubnet(networkId);
    const cluster = {
      ...(await clusterBody(service.http)),
      fixed_network: networkId,
      fixed_subnet: subnet.id,
    };
    await finished(await service.http.post('/cloud/v1/k8s/clusters/1/1', cluster));
    for (const path of [`${SUBNETS}/${subnet.id}`, `${NETWORKS}/${networkId}`]) {
      const answer = await service.http.delete(path);
      expect(answer.status).toBe(409);
      expect(answer.body.message).toContain(`cluster ${cluster.name}`);
    }
  });
});
