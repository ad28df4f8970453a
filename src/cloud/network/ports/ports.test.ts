import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const PORTS = '/cloud/v1/ports/1/1';
const GROUPS = '/cloud/v1/securitygroups/1/1';

let service: TestService;
let networkId: string;
let subnetId: string;
let imageId: string;
beforeAll(async () => {
  service = await borrowService();
  imageId = (await service.http.get('/cloud/v1/images/1/1')).body.results[0].id;
  const network = await finished(await service.http.post('/cloud/v1/networks/1/1', { name: 'wired' }));
  networkId = network.created_resources.networks[0];
  const body = { name: 'wired', network_id: networkId, cidr: '10.30.0.0/24' };
  const subnet = await finished(await service.http.post('/cloud/v1/subnets/1/1', body));
  subnetId = subnet.created_resources.subnets[0];
});
afterAll(() => service.stop());

async function finished(answer: { status: number; text: string; body: string[] }) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  const task = await service.http.task(answer.body[0] ?? '');
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}

async function newInstance() {
  const task = await finished(
    await service.http.post('/cloud/v2/instances/1/1', {
      name: 'wired guest',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'subnet', network_id: networkId, subnet_id: subnetId }],
      volumes: [{ source: 'image', image_id: imageId, size: 20 }],
    }),
  );
  return { instanceId: task.created_resources.instances[0], portId: task.created_resources.ports[0] };
}

const read = async (portId: string) => (await service.http.get(`${PORTS}/${portId}`)).body;
const change = (portId: string, body: object) => service.http.patch(`${PORTS}/${portId}`, body);

async function newGroup(name: string): Promise<string> {
  const answer = await service.http.post(GROUPS, { security_group: { name } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.id;
}

async function availableIps(): Promise<number> {
  return (await service.http.get(`/cloud/v1/subnets/1/1/${subnetId}`)).body.available_ips;
}

describe('reading', () => {
  it('shows a port whole, and finds it by every filter', async () => {
    const { instanceId, portId } = await newInstance();
    const port = await read(portId);
    expect(port).toMatchObject({
      id: portId,
      network_id: networkId,
      ip_assignments: [{ subnet_id: subnetId, ip_address: expect.stringMatching(/^10\.30\.0\./) }],
      allowed_address_pairs: [],
      port_security_enabled: true,
      managed_by: 'user',
      tags: {},
    });
    expect(port.security_group_ids).toHaveLength(1);
    const address = port.ip_assignments[0].ip_address;
    for (const query of [`ids=${portId}`, `ids=${portId}&ids=${crypto.randomUUID()}`, `ip_addresses=${address}`]) {
      expect((await service.http.get(`${PORTS}?${query}`)).body).toEqual({ count: 1, results: [port] });
    }
    for (const query of [`network_ids=${networkId}`, `subnet_ids=${subnetId}`, 'order_by=network_id.asc']) {
      const { body } = await service.http.get(`${PORTS}?${query}`);
      expect(body.results).toContainEqual(port);
    }
    for (const query of [`ids=${crypto.randomUUID()}`, `network_ids=${subnetId}`, 'ip_addresses=10.30.0.254']) {
      expect((await service.http.get(`${PORTS}?${query}`)).body).toEqual({ count: 0, results: [] });
    }
    const inNetwork = await service.http.get(`/cloud/v1/networks/1/1/${networkId}/ports`);
    expect(inNetwork.body.results).toContainEqual({
      id: portId,
      instance_id: instanceId,
      instance_name: 'wired guest',
    });
    const reserved = await service.http.post('/cloud/v1/reserved_fixed_ips/1/1', {
      type: 'any_subnet',
      network_id: networkId,
    });
    await service.http.task(reserved.body[0]);
    expect((await service.http.get(`/cloud/v1/networks/1/1/${networkId}/ports`)).body).toEqual(inNetwork.body);
  });

  it('pages newest first', async () => {
    await newInstance();
    const all = (await service.http.get(PORTS)).body;
    const page = (await service.http.get(`${PORTS}?limit=1&offset=1`)).body;
    expect(page).toEqual({ count: all.count, results: [all.results[1]] });
  });

  it.each(['ids=no-id', 'ip_addresses=10.0', 'order_by=name.asc', 'limit=1001'])('refuses %s', async (query) => {
    expect((await service.http.get(`${PORTS}?${query}`)).status).toBe(400);
  });

  it('knows nothing of what is not there', async () => {
    const id = crypto.randomUUID();
    expect((await service.http.get(`${PORTS}/${id}`)).status).toBe(404);
    expect((await change('no-id', { tags: {} })).status).toBe(404);
    expect((await service.http.get(`/cloud/v1/networks/1/1/${id}/ports`)).status).toBe(404);
  });
});

describe('a change', () => {
  it('replaces lists, clears empty ones and keeps what is left out', async () => {
    const { portId } = await newInstance();
    const [first, second] = [await newGroup('port group a'), await newGroup('port group b')];
    const before = await read(portId);
    const task = await finished(
      await change(portId, {
        security_group_ids: [second, first],
        allowed_address_pairs: [{ ip_address: '10.30.1.0/24' }, { ip_address: '10.30.0.200' }],
        tags: { env: 'test' },
      }),
    );
    expect(task.task_type).toBe('update_port');
    expect(await read(portId)).toMatchObject({
      security_group_ids: [first, second].sort(),
      allowed_address_pairs: [{ ip_address: '10.30.0.200' }, { ip_address: '10.30.1.0/24' }],
      ip_assignments: before.ip_assignments,
      tags: { env: 'test' },
    });
    await finished(await change(portId, { tags: { env: null }, allowed_address_pairs: [] }));
    expect(await read(portId)).toMatchObject({
      security_group_ids: [first, second].sort(),
      allowed_address_pairs: [],
      tags: {},
    });
    const twice = await change(portId, { security_group_ids: [first, first.toUpperCase()] });
    expect([twice.status, twice.body.invalid_fields]).toEqual([
      400,
      { 'security_group_ids.1': ['Is a duplicate; send each group once.'] },
    ]);
    expect((await service.http.delete(`${GROUPS}/${first}`)).status).toBe(409);
  });

  it('switches port security off only without groups and pairs', async () => {
    const { portId } = await newInstance();
    const refused = await change(portId, { port_security_enabled: false });
    expect(refused.status).toBe(400);
    expect(refused.body.invalid_fields).toHaveProperty('security_group_ids');
    await finished(await change(portId, { port_security_enabled: false, security_group_ids: [] }));
    expect(await read(portId)).toMatchObject({ port_security_enabled: false, security_group_ids: [] });
  });

  it('moves a port to other addresses and frees the old ones', async () => {
    const { portId } = await newInstance();
    const before = await availableIps();
    const [{ ip_address: old }] = (await read(portId)).ip_assignments;
    const at = (ip_address: string) => ({ ip_address, subnet_id: subnetId });
    await finished(await change(portId, { ip_assignments: [at(old), at('10.30.0.100')] }));
    expect((await read(portId)).ip_assignments).toEqual(expect.arrayContaining([at(old), at('10.30.0.100')]));
    expect(await availableIps()).toBe(before - 1);
    await finished(await change(portId, { ip_assignments: [at('10.30.0.100')] }));
    expect((await read(portId)).ip_assignments).toEqual([at('10.30.0.100')]);
    expect(await availableIps()).toBe(before);
    const { body } = await service.http.get(`${PORTS}?ip_addresses=${old}`);
    expect(body.count).toBe(0);
  });

  it('gives one address to one of many ports that ask for it at once', async () => {
    const ports = await Promise.all(Array.from({ length: 4 }, newInstance));
    const wanted = { ip_assignments: [{ ip_address: '10.30.0.150', subnet_id: subnetId }] };
    const answers = await Promise.all(ports.map(({ portId }) => change(portId, wanted)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    for (const answer of answers.filter(({ status }) => status === 200)) await finished(answer);
    expect((await service.http.get(`${PORTS}?ip_addresses=10.30.0.150`)).body.count).toBe(1);
  });

  it.each([
    [{ security_group_ids: [crypto.randomUUID()] }, 'security_group_ids.0'],
    [{ security_group_ids: Array.from({ length: 11 }, () => crypto.randomUUID()) }, 'security_group_ids'],
    [{ allowed_address_pairs: [{ ip_address: 'x' }] }, 'allowed_address_pairs.0.ip_address'],
    [
      { allowed_address_pairs: [{ ip_address: '10.30.1.0/24' }, { ip_address: '10.30.1.0/24' }] },
      'allowed_address_pairs.1',
    ],
    [{ allowed_address_pairs: [{ ip_address: '10.30.1.7/24' }] }, 'allowed_address_pairs.0.ip_address'],
    [{ ip_assignments: [] }, 'ip_assignments'],
    [{ ip_assignments: [{ ip_address: '10.30.0.9', subnet_id: crypto.randomUUID() }] }, 'ip_assignments.0.subnet_id'],
    [{ tags: { 'a b': 'c' } }, 'tags.a b'],
  ])('is refused with %j', async (body, field) => {
    const { body: ports } = await service.http.get(`${PORTS}?limit=1`);
    const answer = await change(ports.results[0].id, body);
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
  });

  it('is refused for an address that the subnet does not hand out, and while a task holds the port', async () => {
    const { portId } = await newInstance();
    for (const ip_address of ['10.30.0.1', '10.30.0.255', '10.31.0.5']) {
      const answer = await change(portId, { ip_assignments: [{ ip_address, subnet_id: subnetId }] });
      expect(answer.status).toBe(400);
      expect(answer.body.invalid_fields).toHaveProperty(['ip_assignments.0.ip_address']);
    }
    const holder = crypto.randomUUID();
    await service.pool.query('update ports set task_id = $2 where id = $1', [portId, holder]);
    const held = await change(portId, { tags: {} });
    expect(held.status).toBe(409);
    expect(held.body.message).toContain(holder);
  });

  it('does not keep others from asking for the port security that the port has', async () => {
    const { portId } = await newInstance();
    const secure = (how: string) => service.http.post(`${PORTS}/${portId}/${how}_port_security`);
    const holder = crypto.randomUUID();
    await service.pool.query('update ports set task_id = $2 where id = $1', [portId, holder]);
    expect(await secure('enable')).toMatchObject({ status: 200, body: { port_security_enabled: true } });
    expect((await secure('disable')).status).toBe(409);
  });

  it('comes by the older operation for address pairs as well', async () => {
    const { portId } = await newInstance();
    const path = `/cloud/v2/ports/1/1/${portId}/allow_address_pairs`;
    const pairs = { allowed_address_pairs: [{ ip_address: '10.30.0.77' }] };
    const task = await finished(await service.http.put(path, pairs));
    expect(task.task_type).toBe('update_port_allowed_address_pairs');
    expect(await read(portId)).toMatchObject(pairs);
    await finished(await service.http.put(path, {}));
    expect(await read(portId)).toMatchObject({ allowed_address_pairs: [] });
  });

  it('keeps the hardware address of a pair, which only that operation names', async () => {
    const { instanceId, portId } = await newInstance();
    const path = `/cloud/v2/ports/1/1/${portId}/allow_address_pairs`;
    const own = (await read(portId)).mac_address;
    const pair = (mac_address: string | null, ip_address = '10.30.0.77') => ({ ip_address, mac_address });
    const given = [pair('02-AA-00-00-00-02'), pair(own.toUpperCase()), pair(null, '10.30.0.9')];
    await finished(await service.http.put(path, { allowed_address_pairs: given }));
    expect(await read(portId)).toMatchObject({
      allowed_address_pairs: [{ ip_address: '10.30.0.77' }, { ip_address: '10.30.0.77' }, { ip_address: '10.30.0.9' }],
    });
    const interfaces = await service.http.get(`/cloud/v1/instances/1/1/${instanceId}/interfaces`);
    expect(interfaces.body.results[0].allowed_address_pairs).toEqual([
      pair(own),
      pair('02:aa:00:00:00:02'),
      pair(null, '10.30.0.9'),
    ]);
    for (const [wrong, field] of [
      [[pair('02:00')], 'allowed_address_pairs.0.mac_address'],
      [[pair(null), pair(own)], 'allowed_address_pairs.1'],
    ] as const) {
      const refused = await service.http.put(path, { allowed_address_pairs: wrong });
      expect(refused.status, refused.text).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    }
  });

  it('does not survive its instance', async () => {
    const { instanceId, portId } = await newInstance();
    const before = await availableIps();
    const answers = await Promise.all([
      change(portId, { ip_assignments: [{ ip_address: '10.30.0.180', subnet_id: subnetId }] }),
      service.http.delete(`/cloud/v1/instances/1/1/${instanceId}`),
    ]);
    for (const answer of answers) await finished(answer);
    expect((await service.http.get(`${PORTS}/${portId}`)).status).toBe(404);
    expect(await availableIps()).toBe(before + 1);
  });
});
