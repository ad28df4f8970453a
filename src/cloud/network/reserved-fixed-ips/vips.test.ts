import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { specOf } from '../../../../test/support/infrastructure.ts';
import { clusterBody } from '../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const RESERVED = '/cloud/v1/reserved_fixed_ips/1/1';
const PORTS = '/cloud/v1/ports/1/1';
const I = '/cloud/v1/instances/1/1';
const unknown = crypto.randomUUID();

let service: TestService;
let http: HttpClient;
let network: string;
/** Two instances in the same network. */
let web: { instance: string; port: string }[];
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  network = (await http.get('/cloud/v1/networks/1/1')).body.results[0].id;
  web = [await newInstance('web-1'), await newInstance('web-2')];
});
afterAll(() => service.stop());

async function done(answer: { status: number; body: string[]; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources;
}

async function newInstance(name: string, ofInterface: object = {}) {
  const made = await done(
    await http.post('/cloud/v2/instances/1/1', {
      name,
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id: network, ...ofInterface }],
      volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
    }),
  );
  return { instance: String(made.instances[0]), port: String(made.ports[0]) };
}

const newVip = async (body: object = {}): Promise<string> =>
  (await done(await http.post(RESERVED, { type: 'any_subnet', network_id: network, is_vip: true, ...body }))).ports[0];
const get = async (id: string) => (await http.get(`${RESERVED}/${id}`)).body;
const pairsOf = async (port: string): Promise<string[]> =>
  (await http.get(`${PORTS}/${port}`)).body.allowed_address_pairs.map(
    ({ ip_address }: { ip_address: string }) => ip_address,
  );
const list = async (id: string, which: 'connected' | 'available') => {
  const { status, body, text } = await http.get(`${RESERVED}/${id}/${which}_devices`);
  expect(status, text).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results as { port_id: string; instance_id: string }[];
};
const idsOf = (devices: { port_id: string }[]) => devices.map(({ port_id }) => port_id);
const share = (id: string, port_ids: string[] | undefined, method: 'PATCH' | 'PUT' = 'PATCH') =>
  http.request(method, `${RESERVED}/${id}/connected_devices`, { body: { port_ids } });
const portOf = (index: number) => String(web[index]?.port);

describe('a virtual address', () => {
  it('is shared by ports of several instances, which may send from it', async () => {
    const vip = await newVip();
    expect(await get(vip)).toMatchObject({ is_vip: true, attachments: [], status: 'DOWN' });
    expect(idsOf(await list(vip, 'connected'))).toEqual([]);
    expect(idsOf(await list(vip, 'available'))).toEqual([portOf(0), portOf(1)]);
    const address = (await get(vip)).fixed_ip_address;

    const one = await share(vip, [portOf(0).toUpperCase()]);
    expect(one.status, one.text).toBe(200);
    const [shown] = one.body.results;
    const { body: subnet } = await http.get(`/cloud/v1/subnets/1/1/${shown.ip_assignments[0].subnet_id}`);
    expect(one.body).toEqual({
      count: 1,
      results: [
        {
          port_id: portOf(0),
          instance_id: web[0]?.instance,
          instance_name: 'web-1',
          ip_assignments: [{ ip_address: expect.any(String), subnet_id: subnet.id, subnet }],
          network: (await http.get(`/cloud/v1/networks/1/1/${network}`)).body,
        },
      ],
    });
    expect(await pairsOf(portOf(0))).toEqual([address]);
    expect(idsOf(await list(vip, 'available'))).toEqual([portOf(1)]);

    expect(idsOf((await share(vip, [portOf(0), portOf(1)])).body.results)).toEqual([portOf(0), portOf(1)]);
    expect(await get(vip)).toMatchObject({
      status: 'DOWN',
      reservation: { status: 'in-use', resource_type: null, resource_id: null },
      attachments: web
        .map(({ instance }) => ({ resource_id: instance, resource_type: 'instance' }))
        .toSorted((a, b) => (a.resource_id < b.resource_id ? -1 : 1)),
    });
    for (const query of [`device_id=${web[1]?.instance.toUpperCase()}`, 'vip_only=true']) {
      expect(idsOf((await http.get(`${RESERVED}?${query}`)).body.results)).toEqual([vip]);
    }
    expect(idsOf((await http.get(`${RESERVED}?available_only=true`)).body.results)).toEqual([]);

    expect(idsOf((await share(vip, [portOf(1)], 'PUT')).body.results)).toEqual([portOf(1)]);
    expect([await pairsOf(portOf(0)), await pairsOf(portOf(1))]).toEqual([[], [address]]);
    expect(idsOf((await share(vip, undefined, 'PUT')).body.results)).toEqual([portOf(1)]);
    expect((await share(vip, [], 'PUT')).body).toEqual({ count: 0, results: [] });
    await done(await http.delete(`${RESERVED}/${vip}`));
  });

  it('leaves other address pairs as they are, and takes all of its own with it', async () => {
    const vip = await newVip();
    const { fixed_ip_address: address } = await get(vip);
    const allowed_address_pairs = [{ ip_address: '10.0.9.9' }, { ip_address: '10.0.200.0/24' }];
    await done(await http.patch(`${PORTS}/${portOf(0)}`, { allowed_address_pairs }));
    for (let twice = 0; twice < 2; twice++) await share(vip, [portOf(0)]);
    expect(await pairsOf(portOf(0))).toEqual([String(address), '10.0.200.0/24', '10.0.9.9'].toSorted());
    const { body } = await http.get(`${I}/${web[0]?.instance}/interfaces`);
    expect(body.results[0].allowed_address_pairs).toHaveLength(3);
    await done(await http.delete(`${RESERVED}/${vip}`));
    expect(await pairsOf(portOf(0))).toEqual(['10.0.200.0/24', '10.0.9.9']);
    await done(await http.patch(`${PORTS}/${portOf(0)}`, { allowed_address_pairs: [] }));
  });

  it('is shared as well by a port whose pairs name it', async () => {
    const vip = await newVip();
    const { fixed_ip_address: ip_address } = await get(vip);
    const change = (allowed_address_pairs: object[]) => http.patch(`${PORTS}/${portOf(1)}`, { allowed_address_pairs });
    await done(await change([{ ip_address }]));
    expect(idsOf(await list(vip, 'connected'))).toEqual([portOf(1)]);
    await done(await change([]));
    expect(idsOf(await list(vip, 'connected'))).toEqual([]);
    await done(await http.delete(`${RESERVED}/${vip}`));
  });

  it('of both families is shared with both', async () => {
    const { networks } = await done(await http.post('/cloud/v1/networks/1/1', { name: 'dual' }));
    for (const cidr of ['10.60.0.0/24', 'fd00:60::/64']) {
      const body = { name: 'part', network_id: networks[0], cidr };
      await done(await http.post('/cloud/v1/subnets/1/1', body));
    }
    const where = { network_id: networks[0], ip_family: 'dual' };
    const guest = await newInstance('dual', where);
    const vip = await newVip(where);
    const { fixed_ip_address, fixed_ipv6_address } = await get(vip);
    await share(vip, [guest.port]);
    expect(await pairsOf(guest.port)).toEqual([fixed_ip_address, fixed_ipv6_address]);
    expect((await get(vip)).attachments).toHaveLength(1);
    await share(vip, [], 'PUT');
    expect(await pairsOf(guest.port)).toEqual([]);
  });

  it('belongs to no instance, and keeps its addresses', async () => {
    const vip = await newVip();
    const { body: port } = await http.get(`${PORTS}/${vip}`);
    const [assignment] = port.ip_assignments;
    const interfaces = [{ type: 'reserved_fixed_ip', port_id: vip }];
    const attached = await http.post('/cloud/v2/instances/1/1', {
      name: 'thief',
      flavor: 'g1-standard-1-2',
      interfaces,
      volumes: [BOOT_VOLUME],
    });
    expect([attached.status, attached.body.message]).toEqual([409, expect.stringContaining('is_vip')]);
    const ip_assignments = [{ ...assignment, ip_address: '10.0.9.77' }];
    expect((await http.patch(`${PORTS}/${vip}`, { ip_assignments })).status).toBe(409);
    await done(await http.patch(`${PORTS}/${vip}`, { ip_assignments: [assignment], tags: { a: 'b' } }));
    await done(await http.delete(`${RESERVED}/${vip}`));
  });
});

describe('is_vip', () => {
  const turn = (id: string, is_vip: unknown) => http.patch(`${RESERVED}/${id}`, { is_vip });

  it('is switched on and off at once, and off only while nothing shares it', async () => {
    const id = await newVip({ is_vip: false });
    expect(idsOf(await list(id, 'available'))).toEqual([]);
    expect((await share(id, [portOf(0)])).status).toBe(409);
    const on = await turn(id, true);
    expect(on.status, on.text).toBe(200);
    expect(on.body).toEqual(await get(id));
    expect(on.body.is_vip).toBe(true);
    expect((await turn(id, true)).body.updated_at).toBe(on.body.updated_at);
    await share(id, [portOf(0)]);
    const shared = await turn(id, false);
    expect([shared.status, shared.body.message]).toEqual([409, expect.stringContaining('web-1')]);
    await share(id, [], 'PUT');
    expect((await turn(id, false)).body.is_vip).toBe(false);
    await done(await http.delete(`${RESERVED}/${id}`));
  });

  it('no longer shares another one, whose address it would keep beyond that one', async () => {
    const other = await newVip();
    const id = await newVip({ is_vip: false });
    const { instance } = await newInstance('sharer');
    await done(await http.post(`${I}/${instance}/attach_interface`, { type: 'reserved_fixed_ip', port_id: id }));
    expect((await share(other, [id])).status).toBe(200);
    const detached = { port_id: id, ip_address: (await get(id)).fixed_ip_address };
    await done(await http.post(`${I}/${instance}/detach_interface`, detached));
    expect(await pairsOf(id)).toEqual([(await get(other)).fixed_ip_address]);
    expect((await http.patch(`${RESERVED}/${id}`, { is_vip: true })).status).toBe(200);
    expect(await pairsOf(id)).toEqual([]);
    expect((await specOf(service.pool, 'port', id)).wanted).toMatchObject({ addressPairs: [] });
    for (const gone of [other, id]) await done(await http.delete(`${RESERVED}/${gone}`));
  });

  it('is refused while an instance or a task has the address, and for what is not there', async () => {
    const id = await newVip({ is_vip: false });
    const { instance } = await newInstance('holder');
    await done(await http.post(`${I}/${instance}/attach_interface`, { type: 'reserved_fixed_ip', port_id: id }));
    const used = await turn(id, true);
    expect([used.status, used.body.message]).toEqual([409, expect.stringContaining(instance)]);
    await done(await http.delete(`${I}/${instance}`));
    await service.pool.query('update ports set task_id = $1 where id = $2', [unknown, id]);
    expect((await turn(id, true)).status).toBe(409);
    await service.pool.query('update ports set task_id = null where id = $1', [id]);
    expect((await turn(unknown, true)).status).toBe(404);
    expect((await turn(portOf(0), true)).status).toBe(404);
    for (const wrong of ['true', null, undefined]) expect((await turn(id, wrong)).status).toBe(400);
    const other = await service.otherTenant();
    const foreign = `/cloud/v1/reserved_fixed_ips/${other.projectId}/1/${id}`;
    expect((await other.http.patch(foreign, { is_vip: true })).status).toBe(404);
    for (const path of ['connected_devices', 'available_devices']) {
      expect((await other.http.get(`${foreign}/${path}`)).status).toBe(404);
    }
    const theirs = { body: { port_ids: [portOf(0)] } };
    expect((await other.http.request('PUT', `${foreign}/connected_devices`, theirs)).status).toBe(404);
    await done(await http.delete(`${RESERVED}/${id}`));
  });
});

describe('a port', () => {
  let vip: string;
  beforeAll(async () => {
    vip = await newVip();
  });
  afterAll(async () => {
    await done(await http.delete(`${RESERVED}/${vip}`));
  });

  const refused = async (port_ids: string[], field: string) => {
    const answer = await share(vip, port_ids);
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
  };

  it('has to be one of an instance in the network of the address', async () => {
    await refused([portOf(0), unknown], 'port_ids.1');
    await refused(['no-id'], 'port_ids.0');
    await refused([vip], 'port_ids.0');
    const outside = await newInstance('outside', { type: 'external', network_id: undefined });
    await refused([outside.port], 'port_ids.0');
    const other = await service.otherTenant();
    const theirs = await other.http.get(`/cloud/v1/networks/${other.projectId}/1`);
    const made = await other.http.post(`/cloud/v2/instances/${other.projectId}/1`, {
      name: 'foreign',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id: theirs.body.results[0].id }],
      volumes: [BOOT_VOLUME],
    });
    const task = await other.http.task(made.body[0]);
    await refused([task.created_resources.ports[0]], 'port_ids.0');
    expect(await pairsOf(portOf(0))).toEqual([]);
  });

  it('is not another virtual address, which is not waited for either', async () => {
    const other = await newVip();
    const meanwhile = await service.pool.connect();
    try {
      // Locks like a request about the other VIP, which may name this one.
      await meanwhile.query('begin');
      await meanwhile.query('select from ports where id = $1 for update', [other]);
      await refused([other], 'port_ids.0');
    } finally {
      await meanwhile.query('rollback');
      meanwhile.release();
    }
    await done(await http.delete(`${RESERVED}/${other}`));
  });

  it('is not one of a cluster, without port security, full of pairs or held', async () => {
    const conflict = async (port: string, word: string) => {
      const answer = await share(vip, [port]);
      expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining(word)]);
      expect(await pairsOf(port)).not.toContain((await get(vip)).fixed_ip_address);
    };
    const body = { ...(await clusterBody(http)), fixed_network: network };
    await done(await http.post('/cloud/v1/k8s/clusters/1/1', body));
    const nodes = await http.get(`/cloud/v1/k8s/clusters/1/1/${body.name}/instances`);
    const ports = await http.get(`${I}/${nodes.body.results[0].id}/interfaces`);
    await conflict(ports.body.results[0].port_id, body.name);

    const { port: bare } = await newInstance('bare');
    await http.post(`${PORTS}/${bare}/disable_port_security`);
    await conflict(bare, 'port security');

    const { port: full } = await newInstance('full');
    const allowed_address_pairs = Array.from({ length: 10 }, (_, i) => ({ ip_address: `10.9.9.${i}` }));
    await done(await http.patch(`${PORTS}/${full}`, { allowed_address_pairs }));
    await conflict(full, '10 allowed address pairs');

    const { port: held } = await newInstance('held');
    await service.pool.query('update ports set task_id = $1 where id = $2', [unknown, held]);
    await conflict(held, unknown);
    const available = idsOf(await list(vip, 'available'));
    expect(available).toEqual(expect.arrayContaining([portOf(0), portOf(1), held]));
    expect(available).not.toEqual(expect.arrayContaining([bare]));
    expect(available).not.toEqual(expect.arrayContaining([full]));
    await service.pool.query('update ports set task_id = null where id = $1', [held]);
  });

  it('is the last of many who replace each other, and no other', async () => {
    const ports = [portOf(0), portOf(1)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => share(vip, [String(ports[index % 2])], 'PUT')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await list(vip, 'connected')).toHaveLength(1);
    await share(vip, [], 'PUT');
  });
});

describe('a reserved address of the outside', () => {
  const convert = (id: string, target_type = 'floating_ip') => http.post(`${RESERVED}/${id}/convert`, { target_type });
  const reserve = async (body: object): Promise<string> => (await done(await http.post(RESERVED, body))).ports[0];
  const quotas = async () => {
    const { rows } = await service.pool.query(
      `select attribute, used from quota_usage
      where attribute in ('floating_count', 'reserved_fixed_ip_count') and used > 0 order by attribute`,
    );
    return Object.fromEntries(rows.map(({ attribute, used }) => [attribute, used]));
  };

  it('becomes a floating IP with the same address', async () => {
    const before = await quotas();
    const id = await reserve({ type: 'external' });
    const { fixed_ip_address: address } = await get(id);
    const accepted = await convert(id);
    const made = await done(accepted);
    expect((await http.get(`${RESERVED}/${id}`)).status).toBe(404);
    const floating = `/cloud/v1/floatingips/1/1/${made.floatingips[0]}`;
    expect((await http.get(floating)).body).toMatchObject({
      floating_ip_address: address,
      port_id: null,
      task_id: null,
      creator_task_id: accepted.body[0],
      status: 'DOWN',
    });
    expect(await quotas()).toEqual({ ...before, floating_count: (before.floating_count ?? 0) + 1 });
    const assigned = await http.post(`${floating}/assign`, { port_id: portOf(0) });
    expect(assigned.status, assigned.text).toBe(200);
    await done(await http.delete(floating));
    expect(await quotas()).toEqual(before);
    const { rows } = await service.pool.query('select from ip_assignments where address = $1', [address]);
    expect(rows).toEqual([]);
  });

  it.each([
    ['private', { type: 'any_subnet' }, 'external network'],
    ['virtual', { type: 'external', is_vip: true }, 'is_vip'],
    ['of IPv6', { type: 'external', ip_family: 'ipv6' }, 'IPv4'],
    ['of both families', { type: 'external', ip_family: 'dual' }, 'IPv4'],
  ])('does not when it is %s', async (_, body, word) => {
    const id = await reserve({ ...body, ...(body.type === 'any_subnet' && { network_id: network }) });
    const answer = await convert(id);
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining(word)]);
    await done(await http.delete(`${RESERVED}/${id}`));
  });

  it('does not when it is used, held or nobody’s', async () => {
    const id = await reserve({ type: 'external' });
    const { instance } = await newInstance('user');
    const body = { type: 'reserved_fixed_ip', port_id: id };
    await done(await http.post(`${I}/${instance}/attach_interface`, body));
    expect((await convert(id)).status).toBe(409);
    await done(await http.delete(`${I}/${instance}`));
    expect((await convert(id, 'port')).status).toBe(400);
    expect((await convert(unknown)).status).toBe(404);
    const answers = await Promise.all([convert(id), convert(id), http.delete(`${RESERVED}/${id}`)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });
});
