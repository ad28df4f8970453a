import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const V1 = '/cloud/v1/floatingips/1/1';
const V2 = '/cloud/v2/floatingips/1/1';
const unknown = crypto.randomUUID();

let service: TestService;
let http: HttpClient;
let network: string;
beforeAll(async () => {
  service = await startService();
  http = service.http;
  network = (await http.get('/cloud/v1/networks/1/1')).body.results[0].id;
});
afterAll(() => service.stop());

async function done(answer: { status: number; body: string[]; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

const create = async (body: object = {}): Promise<string> =>
  (await done(await http.post(V1, body))).created_resources.floatingips[0];
const get = async (id: string) => (await http.get(`${V1}/${id}`)).body;
const patch = (id: string, body: object) => http.patch(`${V2}/${id}`, body);

async function instance() {
  const task = await done(
    await http.post('/cloud/v2/instances/1/1', {
      name: 'web-1',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id: network }],
      volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
    }),
  );
  const { instances, ports } = task.created_resources;
  const { body } = await http.get(`/cloud/v1/instances/1/1/${instances[0]}`);
  const address: string = body.fixed_ip_assignments[0].ip_address;
  return { id: String(instances[0]), port: String(ports[0]), address };
}

describe('an update', () => {
  it('leads it to a port, to another and off it again, by one task each', async () => {
    const [one, other] = [await instance(), await instance()];
    const id = await create();
    const task = await done(await patch(id, { port_id: one.port.toUpperCase(), tags: { env: 'a' } }));
    expect(task).toMatchObject({ task_type: 'update_floating_ip', created_resources: null });
    expect(await get(id)).toMatchObject({
      port_id: one.port,
      fixed_ip_address: one.address,
      status: 'ACTIVE',
      task_id: null,
      tags: [{ key: 'env', value: 'a', read_only: false }],
    });
    await done(await patch(id, { port_id: other.port, fixed_ip_address: other.address }));
    expect(await get(id)).toMatchObject({ port_id: other.port, fixed_ip_address: other.address });
    await done(await patch(id, { port_id: null, tags: { env: null } }));
    expect(await get(id)).toMatchObject({ port_id: null, fixed_ip_address: null, status: 'DOWN', tags: [] });
  });

  it('of nothing is no task, and under /gcore a finished one', async () => {
    const { port, address } = await instance();
    const id = await create({ port_id: port, tags: { env: 'a' } });
    for (const same of [
      {},
      { port_id: port },
      { fixed_ip_address: address },
      { fixed_ip_address: null },
      { port_id: port, fixed_ip_address: address, tags: { env: 'a' } },
    ]) {
      const answer = await patch(id, same);
      expect([answer.status, answer.body], answer.text).toEqual([200, []]);
    }
    const waiting = await http.patch(`/gcore${V2}/${id}`, {});
    expect((await http.get(`/cloud/v1/tasks/${waiting.body.tasks[0]}`)).body).toMatchObject({
      state: 'FINISHED',
      task_type: 'update_floating_ip',
      data: { floating_ip_id: id },
    });
    expect((await patch(await create(), { port_id: null })).body).toEqual([]);
  });

  it('refuses what makes no sense, by field, and changes nothing', async () => {
    const { port, address } = await instance();
    const [id, leading] = [await create(), await create({ port_id: port })];
    for (const [one, body, field] of [
      [id, { port_id: unknown }, 'port_id'],
      [id, { fixed_ip_address: address }, 'port_id'],
      [leading, { fixed_ip_address: '10.0.200.200' }, 'fixed_ip_address'],
      [leading, { port_id: null, fixed_ip_address: address }, 'fixed_ip_address'],
      [leading, { tags: { 'a b': 'c' } }, 'tags.a b'],
      [leading, { name: 'x' }, 'name'],
    ] as const) {
      const refused = await patch(one, body);
      expect(refused.status, refused.text).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    }
    const taken = await patch(id, { port_id: port });
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining(leading)]);
    expect((await patch(unknown, {})).status).toBe(404);
    expect(await get(leading)).toMatchObject({ port_id: port, task_id: null, tags: [] });
  });

  it('is refused while a task holds it, to others and to readers', async () => {
    const id = await create();
    const task = crypto.randomUUID();
    await service.pool.query('update floating_ips set task_id = $1 where id = $2', [task, id]);
    for (const base of [V1, V2]) {
      const held = await http.patch(`${base}/${id}`, { tags: { env: 'a' } });
      expect([held.status, held.body.message]).toEqual([409, expect.stringContaining(task)]);
    }
    await service.pool.query('update floating_ips set task_id = null where id = $1', [id]);
    const other = await service.otherTenant();
    const user = await service.withRole('Users');
    for (const base of [V1, V2]) {
      const theirs = base.replace('/1/1', `/${other.projectId}/1`);
      expect((await other.http.patch(`${theirs}/${id}`, { tags: { env: 'a' } })).status).toBe(404);
      expect((await other.http.patch(`${base}/${id}`, { tags: { env: 'a' } })).status).toBe(404);
      expect((await user.patch(`${base}/${id}`, { tags: { env: 'a' } })).status).toBe(403);
      expect((await service.anonymous.patch(`${base}/${id}`, {})).status).toBe(401);
    }
  });

  it('of tags alone, at once', async () => {
    const id = await create({ tags: { env: 'a', owner: 'b' } });
    const changed = await http.patch(`${V1}/${id}`, { tags: { env: 'c', owner: null } });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body).toEqual(await get(id));
    expect(changed.body.tags).toEqual([{ key: 'env', value: 'c', read_only: false }]);
    expect((await http.patch(`${V1}/${id}`, { tags: null })).body.tags).toEqual([]);
    expect((await http.patch(`${V1}/${id}`, {})).body.tags).toEqual([]);
    expect((await http.patch(`${V1}/${id}`, { port_id: null })).status).toBe(400);
  });
});

describe('a conversion', () => {
  const convert = (id: string) => http.post(`${V1}/${id}/convert`, { target_type: 'reserved_fixed_ip' });
  const quotas = async () => {
    const { rows } = await service.pool.query(
      `select attribute, used::int from quota_usage
       where client_id = 1 and attribute in ('floating_count', 'reserved_fixed_ip_count')`,
    );
    return Object.fromEntries(rows.map(({ attribute, used }) => [attribute, used]));
  };

  it('makes a reserved fixed IP of it, with its address, and that one can be made a floating IP again', async () => {
    const id = await create({ tags: { env: 'a' } });
    const { floating_ip_address: address } = await get(id);
    const before = await quotas();
    const task = await done(await convert(id));
    expect(task.task_type).toBe('convert_fip_to_reserved_fixed_ip');
    const [port] = task.created_resources.ports;
    expect((await http.get(`${V1}/${id}`)).status).toBe(404);
    const reserved = `/cloud/v1/reserved_fixed_ips/1/1/${port}`;
    expect((await http.get(reserved)).body).toMatchObject({
      port_id: port,
      fixed_ip_address: address,
      is_external: true,
      is_vip: false,
      status: 'DOWN',
      reservation: { status: 'available' },
      creator_task_id: task.id,
      task_id: null,
    });
    expect(await quotas()).toEqual({
      floating_count: before.floating_count - 1,
      reserved_fixed_ip_count: (before.reserved_fixed_ip_count ?? 0) + 1,
    });
    const { wanted, there } = await specOf(service.pool, 'port', port);
    const { rows } = await service.pool.query('select mac_address::text as mac from ports where id = $1', [port]);
    expect(wanted).toMatchObject({ reserved: true, macAddress: rows[0].mac, formerFloatingIpId: id });
    expect(there).toEqual(wanted);
    const back = await done(await http.post(`${reserved}/convert`, { target_type: 'floating_ip' }));
    expect(await get(back.created_resources.floatingips[0])).toMatchObject({ floating_ip_address: address });
    expect((await quotas()).floating_count).toBe(before.floating_count);
  });

  it('gives an address that an instance can take at once', async () => {
    const [port_id] = (await done(await convert(await create()))).created_resources.ports;
    const { id } = await instance();
    const path = `/cloud/v1/instances/1/1/${id}`;
    await done(await http.post(`${path}/attach_interface`, { type: 'reserved_fixed_ip', port_id }));
    const { results } = (await http.get(`${path}/interfaces`)).body;
    expect(results.map((one: { port_id: string }) => one.port_id)).toContain(port_id);
  });

  it('is refused while it is assigned or held, of what is not there, and to others', async () => {
    const { port } = await instance();
    const leading = await convert(await create({ port_id: port }));
    expect([leading.status, leading.body.message]).toEqual([409, expect.stringContaining(port)]);
    const id = await create();
    const task = crypto.randomUUID();
    await service.pool.query('update floating_ips set task_id = $1 where id = $2', [task, id]);
    const held = await convert(id);
    await service.pool.query('update floating_ips set task_id = null where id = $1', [id]);
    expect([held.status, held.body.message]).toEqual([409, expect.stringContaining(task)]);
    for (const body of [{}, { target_type: 'floating_ip' }, { target_type: 'reserved_fixed_ip', more: 1 }]) {
      expect((await http.post(`${V1}/${id}/convert`, body)).status).toBe(400);
    }
    expect((await convert(unknown)).status).toBe(404);
    const other = await service.otherTenant();
    const theirs = `${V1.replace('/1/1', `/${other.projectId}/1`)}/${id}/convert`;
    const body = { target_type: 'reserved_fixed_ip' };
    expect((await other.http.post(theirs, body)).status).toBe(404);
    expect((await (await service.withRole('Users')).post(`${V1}/${id}/convert`, body)).status).toBe(403);
    expect((await service.anonymous.post(`${V1}/${id}/convert`, body)).status).toBe(401);
    expect(await get(id)).toMatchObject({ task_id: null });
  });

  it('happens once, however many ask for it', async () => {
    const id = await create();
    const answers = await Promise.all(Array.from({ length: 5 }, () => convert(id)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    for (const { status } of answers) expect([200, 404, 409]).toContain(status);
    for (const answer of taken) await done(answer);
  });
});

describe('many updates at once', () => {
  it('give one port one floating IP, and one floating IP one port, without a deadlock', async () => {
    const machines = await Promise.all(Array.from({ length: 3 }, () => instance()));
    const ports = machines.map(({ port }) => port);
    const ids = await Promise.all(ports.map(() => create()));
    const pairs = ids.flatMap((id) => ports.map((port_id) => ({ id, port_id })));
    const answers = await Promise.all(pairs.map(({ id, port_id }) => patch(id, { port_id })));
    for (const { status, text } of answers) expect([200, 409], text).toContain(status);
    for (const { body } of answers.filter(({ status }) => status === 200)) await http.task(body[0]);
    const led = (await Promise.all(ids.map(get))).flatMap(({ port_id }) => port_id ?? []);
    expect(led.length).toBeGreaterThan(0);
    expect(new Set(led).size).toBe(led.length);
    const { rows } = await service.pool.query(
      'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });
});

describe('the list', () => {
  it('shows the instance that each leads to, and finds those on ports', async () => {
    const [one, other] = [await instance(), await instance()];
    const [a, b] = [await create({ port_id: one.port }), await create({ port_id: other.port })];
    const free = await create();
    const list = async (query: string) => (await http.get(`${V1}?${query}`)).body;
    const both = await list(`port_ids=${one.port}&port_ids=${other.port.toUpperCase()}`);
    expect(both.count).toBe(2);
    expect(both.results.map(({ id }: { id: string }) => id)).toEqual([b, a]);
    const [only] = (await list(`port_ids=${one.port}`)).results;
    const shown = (await http.get('/cloud/v1/instances/1/1')).body.results.find(
      ({ id }: { id: string }) => id === one.id,
    );
    const { fixed_ip_assignments: _, blackhole_ports: __, ...rest } = shown;
    const { ddos_profile: ___, instance_isolation: ____, flavor, ...fields } = rest;
    const { flavor_id, flavor_name, vcpus, ram } = flavor;
    expect(only.instance).toEqual({ ...fields, flavor: { flavor_id, flavor_name, vcpus, ram } });
    expect(only.loadbalancer).toBeNull();
    const found = (await list('status=DOWN')).results.find(({ id }: { id: string }) => id === free);
    expect(found).toMatchObject({ instance: null, loadbalancer: null });
    expect((await list(`port_ids=${unknown}`)).count).toBe(0);
    expect((await http.get(`${V1}?port_ids=x`)).status).toBe(400);
    expect(await get(a)).not.toHaveProperty('instance');
  });
});
