import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const RESERVED = '/cloud/v1/reserved_fixed_ips/1/1';
const I = '/cloud/v1/instances/1/1';
const unknown = crypto.randomUUID();

let service: TestService;
let http: HttpClient;
let network: string;
let subnet: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const [first] = (await http.get('/cloud/v1/networks/1/1')).body.results;
  network = first.id;
  subnet = first.subnets[0];
});
afterAll(() => service.stop());

async function done(answer: { status: number; body: string[]; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

const reserve = async (body: object = { type: 'any_subnet', network_id: network }): Promise<string> =>
  (await done(await http.post(RESERVED, body))).created_resources.ports[0];
const get = async (id: string) => (await http.get(`${RESERVED}/${id}`)).body;
const instanceWith = (interfaces: object[], name = 'web-1') =>
  http.post('/cloud/v2/instances/1/1', {
    name,
    flavor: 'g1-standard-1-2',
    interfaces,
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
  });
const at = (port_id: string, more: object = {}) => ({ type: 'reserved_fixed_ip', port_id, ...more });

describe('a reserved address', () => {
  it.each([
    ['subnet', () => ({ subnet_id: subnet, network_id: network }), 'network_id'],
    ['ip_address', () => ({ network_id: network, subnet_id: subnet, ip_address: '10.0.3.4' }), 'subnet_id'],
  ])('of type %s may come with what belongs to another type, under /gcore', async (type, body, ignored) => {
    const answer = await http.post(`/gcore${RESERVED}`, { type, ...body() });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('tradewind-ignored')).toBe(ignored);
    const [id] = (await http.task(answer.body.tasks[0])).created_resources.ports;
    expect(await get(id)).toMatchObject({ network_id: network, subnet_id: subnet });
    await done(await http.delete(`${RESERVED}/${id}`));
  });

  it.each([
    ['external', () => ({ type: 'external' }), /^198\.18\./],
    ['subnet', () => ({ type: 'subnet', subnet_id: subnet }), /^10\.0\./],
    ['any_subnet', () => ({ type: 'any_subnet', network_id: network }), /^10\.0\./],
    ['ip_address', () => ({ type: 'ip_address', network_id: network, ip_address: '10.0.3.3' }), /^10\.0\.3\.3$/],
  ])('of type %s is taken, shown and given back', async (type, body, address) => {
    const before = await counts();
    const accepted = await http.post(RESERVED, body());
    const task = await done(accepted);
    expect(task.task_type).toBe('create_reserved_fixed_ip');
    const [id] = task.created_resources.ports;
    const shown = await get(id);
    expect(shown).toMatchObject({
      port_id: id,
      name: `port-${id}`,
      status: 'DOWN',
      fixed_ip_address: expect.stringMatching(address),
      fixed_ipv6_address: null,
      subnet_v6_id: null,
      creator_task_id: accepted.body[0],
      task_id: null,
      is_external: type === 'external',
      is_vip: false,
      reservation: { status: 'available', resource_type: null, resource_id: null },
      attachments: [],
      allowed_address_pairs: [],
      network: { id: shown.network_id, external: type === 'external' },
      project_id: 1,
      region_id: 1,
    });
    const part = encodeURIComponent(shown.fixed_ip_address);
    expect((await http.get(`${RESERVED}?ip_address=${part}`)).body.results).toEqual([shown]);
    const removal = await done(await http.delete(`${RESERVED}/${id}`));
    expect(removal.task_type).toBe('delete_reserved_fixed_ip');
    expect((await http.get(`${RESERVED}/${id}`)).status).toBe(404);
    expect(await counts()).toEqual(before);
  });

  it.each([
    [{ type: 'subnet', subnet_id: unknown }, 'subnet_id', 400],
    [{ type: 'any_subnet', network_id: unknown }, 'network_id', 400],
    [{ type: 'ip_address', network_id: unknown, ip_address: '10.0.0.9' }, 'network_id', 400],
    [{ type: 'external', ip_family: 'ipv5' }, 'ip_family', 400],
    [{ type: 'port' }, 'port_id', 400],
    [{ type: 'port', port_id: unknown }, 'port_id', 400],
    [{ type: 'port', port_id: unknown, ip_family: 'ipv4' }, 'ip_family', 400],
    [{ type: 'external', network_id: unknown }, 'network_id', 400],
    [{ type: 'floating' }, 'type', 400],
  ])('is refused as %j', async (body, field, status) => {
    const before = await counts();
    const refused = await http.post(RESERVED, body);
    expect(refused.status, refused.text).toBe(status);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    expect(await counts()).toEqual(before);
  });

  it('has to lie in the network and be free', async () => {
    const wish = (ip_address: string) => ({ type: 'ip_address', network_id: network, ip_address });
    expect((await http.post(RESERVED, wish('192.0.2.1'))).body.invalid_fields).toHaveProperty('ip_address');
    await reserve(wish('10.0.3.4'));
    expect((await http.post(RESERVED, wish('10.0.3.4'))).status).toBe(409);
  });

  it('is found by filters', async () => {
    const [inner, outer] = [await reserve(), await reserve({ type: 'external' })];
    const found = async (query: string) => {
      const { status, body, text } = await http.get(`${RESERVED}?${query}`);
      expect(status, text).toBe(200);
      return body.results.map((one: { port_id: string }) => one.port_id);
    };
    expect(await found('external_only=true')).toEqual([outer]);
    expect(await found('internal_only=true')).toContain(inner);
    expect(await found('internal_only=true')).not.toContain(outer);
    expect(await found('available_only=true')).toEqual(expect.arrayContaining([inner, outer]));
    expect(await found('vip_only=true')).toEqual([]);
    expect(await found(`device_id=${unknown}`)).toEqual([]);
    for (const id of [inner, outer]) await done(await http.delete(`${RESERVED}/${id}`));
  });

  it('is listed in every order of the contract, by its address when none is asked for', async () => {
    const wish = (end: number) => ({ type: 'ip_address', network_id: network, ip_address: `10.0.9.${end}` });
    const ids = [await reserve(wish(9)), await reserve(wish(100)), await reserve(wish(20))];
    const places = async (query: string) => {
      const { status, body, text } = await http.get(`${RESERVED}?ip_address=10.0.9.&${query}`);
      expect(status, text).toBe(200);
      return body.results.map(({ port_id }: { port_id: string }) => ids.indexOf(port_id)).join('');
    };
    // Sorted as addresses, not as texts.
    expect(await places('')).toBe('021');
    expect(await places('order_by=fixed_ip_address.asc')).toBe('021');
    expect(await places('order_by=fixed_ip_address.desc')).toBe('120');
    expect(await places('order_by=fixed_ip_address.desc&limit=1&offset=1')).toBe('2');
    expect(await places('order_by=created_at.asc')).toBe('012');
    expect(await places('order_by=created_at.desc')).toBe('210');
    const byName = ids.toSorted().map((id) => ids.indexOf(id));
    expect(await places('order_by=name.asc')).toBe(byName.join(''));
    expect(await places('order_by=name.desc')).toBe(byName.toReversed().join(''));
    const used = await done(await instanceWith([at(String(ids[1]))]));
    expect((await places('order_by=status.asc'))[0]).toBe('1');
    expect((await places('order_by=status.desc'))[2]).toBe('1');
    expect((await places('order_by=updated_at.desc'))[0]).toBe('1');
    expect((await places('order_by=updated_at.asc'))[2]).toBe('1');
    expect((await http.get(`${RESERVED}?order_by=fixed_ip_address`)).status).toBe(400);
    await done(await http.delete(`${I}/${used.created_resources.instances[0]}`));
    for (const id of ids) await done(await http.delete(`${RESERVED}/${id}`));
  });

  it('is nobody else’s', async () => {
    const id = await reserve();
    const other = await service.otherTenant();
    const theirs = `/cloud/v1/reserved_fixed_ips/${other.projectId}/1`;
    expect((await other.http.get(`${theirs}/${id}`)).status).toBe(404);
    expect((await other.http.delete(`${theirs}/${id}`)).status).toBe(404);
    const taken = await other.http.post(theirs, { type: 'any_subnet', network_id: network });
    expect(taken.status).toBe(400);
    const stolen = await other.http.post(`/cloud/v2/instances/${other.projectId}/1`, {
      name: 'thief',
      flavor: 'g1-standard-1-2',
      interfaces: [at(id)],
      volumes: [BOOT_VOLUME],
    });
    expect(stolen.status).toBe(400);
    expect(stolen.body.invalid_fields).toHaveProperty(['interfaces.0.port_id']);
  });
});

describe('the port of an instance', () => {
  const plain = async () =>
    (await done(await instanceWith([{ type: 'any_subnet', network_id: network }]))).created_resources;

  it('becomes a reserved address, and stays when the instance goes', async () => {
    const { instances, ports } = await plain();
    const before = await counts();
    const accepted = await http.post(`/gcore${RESERVED}`, { type: 'port', port_id: ports[0], is_vip: false });
    expect(accepted.status, accepted.text).toBe(200);
    const [taskId] = accepted.body.tasks;
    expect((await http.task(taskId)).created_resources).toEqual({ ports: [ports[0]] });
    expect(await get(ports[0])).toMatchObject({
      status: 'ACTIVE',
      creator_task_id: taskId,
      task_id: null,
      attachments: [{ resource_id: instances[0], resource_type: 'instance' }],
    });
    expect(await counts()).toEqual({ ...before, used: before.used + 1 });
    const again = await http.post(RESERVED, { type: 'port', port_id: ports[0] });
    expect(again.status).toBe(409);
    await done(await http.delete(`${I}/${instances[0]}`));
    expect(await get(ports[0])).toMatchObject({ status: 'DOWN', attachments: [] });
    await done(await http.delete(`${RESERVED}/${ports[0]}`));
    expect(await counts()).toEqual({
      ports: before.ports - 1,
      addresses: before.addresses - 1,
      used: before.used,
    });
  });

  it('stays or goes whole when its instance goes at the same time', async () => {
    const before = await counts();
    for (let round = 0; round < 6; round++) {
      const { instances, ports } = await plain();
      const requests = [
        () => http.post(RESERVED, { type: 'port', port_id: ports[0] }),
        () => http.delete(`${I}/${instances[0]}`),
      ];
      const answers = await Promise.all((round % 2 ? requests : requests.toReversed()).map((send) => send()));
      for (const answer of answers) if (answer.status === 200) await done(answer);
      if ((await http.get(`${I}/${instances[0]}`)).status === 200) {
        await done(await http.delete(`${I}/${instances[0]}`));
      }
      const kept = await http.get(`${RESERVED}/${ports[0]}`);
      if (kept.status === 200) await done(await http.delete(`${RESERVED}/${ports[0]}`));
    }
    expect(await counts()).toEqual(before);
  });

  it('is no virtual address, nobody else’s and not held by a task', async () => {
    const { instances, ports } = await plain();
    const body = { type: 'port', port_id: ports[0] };
    const asVip = await http.post(`/gcore${RESERVED}`, { ...body, is_vip: true });
    expect(asVip.body.invalid_fields).toHaveProperty('is_vip');
    expect((await http.post(RESERVED, { ...body, is_vip: false })).status).toBe(400);
    const other = await service.otherTenant();
    const stolen = await other.http.post(`/cloud/v1/reserved_fixed_ips/${other.projectId}/1`, body);
    expect(stolen.body.invalid_fields).toHaveProperty('port_id');
    await service.pool.query('update ports set task_id = $1 where id = $2', [unknown, ports[0]]);
    expect((await http.post(RESERVED, body)).status).toBe(409);
    await service.pool.query('update ports set task_id = null where id = $1', [ports[0]]);
    await done(await http.delete(`${I}/${instances[0]}`));
  });
});

describe('an instance with a reserved address', () => {
  it('has it, and leaves it when it goes, unless it is named', async () => {
    const [kept, named] = [await reserve(), await reserve({ type: 'external' })];
    const before = await counts();
    const { created_resources: created } = await done(
      await instanceWith([at(kept, { interface_name: 'eth0' }), { type: 'external' }, at(named)]),
    );
    const [id] = created.instances;
    expect(created.ports).toHaveLength(1);
    const { fixed_ip_address } = await get(kept);
    const { body } = await http.get(`${I}/${id}`);
    expect(body.fixed_ip_assignments[0].ip_address).toBe(fixed_ip_address);
    expect(body.security_groups).toEqual([{ name: 'default' }]);
    expect(await get(kept)).toMatchObject({
      status: 'ACTIVE',
      reservation: { status: 'in-use', resource_type: 'instance', resource_id: id },
    });
    expect((await http.get(`${RESERVED}?device_id=${id}`)).body.count).toBe(2);
    const again = await instanceWith([at(kept)], 'web-2');
    expect(again.status).toBe(409);
    expect(again.body.message).toContain(id);
    const inUse = await http.delete(`${RESERVED}/${kept}`);
    expect(inUse.status).toBe(409);
    expect(inUse.body.message).toContain(id);
    const foreign = await http.delete(`${I}/${id}?reserved_fixed_ips=${created.ports[0]}`);
    expect(foreign.body.invalid_fields).toHaveProperty('reserved_fixed_ips');

    await done(await http.delete(`${I}/${id}?reserved_fixed_ips=${named}`));
    expect((await http.get(`${RESERVED}/${named}`)).status).toBe(404);
    expect(await get(kept)).toMatchObject({ status: 'DOWN', reservation: { status: 'available' } });
    const { security_group_ids } = (await http.get(`/cloud/v1/ports/1/1/${kept}`)).body;
    expect(security_group_ids).toEqual([]);
    expect(await counts()).toEqual({
      ports: before.ports - 1,
      addresses: before.addresses - 1,
      used: before.used - 1,
    });
  });

  it('stays while a task works on the address', async () => {
    const port = await reserve();
    const { created_resources: created } = await done(await instanceWith([at(port)]));
    const path = `${I}/${created.instances[0]}`;
    await service.pool.query('update ports set task_id = $1 where id = $2', [unknown, port]);
    const held = await http.delete(path);
    expect([held.status, held.body.message]).toEqual([409, expect.stringContaining(unknown)]);
    await service.pool.query('update ports set task_id = null where id = $1', [port]);
    await done(await http.delete(path));
  });

  it('gets it by attaching and gives it back by detaching', async () => {
    const port = await reserve();
    const { created_resources: created } = await done(
      await instanceWith([{ type: 'any_subnet', network_id: network }]),
    );
    const I1 = `${I}/${created.instances[0]}`;
    const floating_ip = { source: 'new' };
    const attached = await done(await http.post(`${I1}/attach_interface`, at(port, { floating_ip })));
    expect(attached.created_resources.ports).toEqual([]);
    const [floating] = attached.created_resources.floatingips;
    const { fixed_ip_address: ip_address } = await get(port);
    expect(await get(port)).toMatchObject({
      attachments: [{ resource_id: created.instances[0], resource_type: 'instance' }],
    });
    await done(await http.post(`${I1}/detach_interface`, { port_id: port, ip_address }));
    expect(await get(port)).toMatchObject({ status: 'DOWN', fixed_ip_address: ip_address, task_id: null });
    expect((await http.get(`/cloud/v1/floatingips/1/1/${floating}`)).body.port_id).toBeNull();
  });

  it('names each once, and one that is there', async () => {
    const port = await reserve();
    for (const [interfaces, field] of [
      [[at(unknown)], 'interfaces.0.port_id'],
      [[at(port), at(port)], 'interfaces.1.port_id'],
    ] as const) {
      const refused = await instanceWith([...interfaces]);
      expect(refused.status).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    }
    await service.pool.query('update ports set task_id = $1 where id = $2', [unknown, port]);
    const held = await instanceWith([at(port)]);
    expect(held.status).toBe(409);
    expect(held.body.message).toContain(unknown);
    expect((await http.delete(`${RESERVED}/${port}`)).status).toBe(409);
  });

  it('is one of many that want the same', async () => {
    const port = await reserve();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => instanceWith([at(port)], `race-${index}`)),
    );
    expect(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .join(),
    ).toBe('200,409,409,409,409,409');
    const winner = answers.find(({ status }) => status === 200);
    const [id] = (await done(winner ?? { status: 0, body: [], text: 'nobody won' })).created_resources.instances;
    expect((await get(port)).reservation.resource_id).toBe(id);
  });
});

/** Counts what could be left behind, and the quota in use. */
async function counts() {
  const { rows } = await service.pool.query(
    `select (select count(*) from ports)::int as ports, (select count(*) from ip_assignments)::int as addresses,
      (select coalesce(sum(used), 0) from quota_usage where attribute = 'reserved_fixed_ip_count')::int as used`,
  );
  return rows[0];
}
