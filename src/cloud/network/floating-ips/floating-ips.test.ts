import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const FLOATING = '/cloud/v1/floatingips/1/1';
const I = '/cloud/v1/instances/1/1';
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
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

const create = async (body: object = {}): Promise<string> =>
  (await done(await http.post(FLOATING, body))).created_resources.floatingips[0];
const get = async (id: string) => (await http.get(`${FLOATING}/${id}`)).body;

async function instance(...interfaces: object[]) {
  const task = await done(
    await http.post('/cloud/v2/instances/1/1', {
      name: 'web-1',
      flavor: 'g1-standard-1-2',
      interfaces: interfaces.length > 0 ? interfaces : [{ type: 'any_subnet', network_id: network }],
      volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
    }),
  );
  const { instances, ports } = task.created_resources;
  const { body } = await http.get(`${I}/${instances[0]}`);
  return {
    id: String(instances[0]),
    port: String(ports[0]),
    address: String(body.fixed_ip_assignments[0].ip_address),
    created: task.created_resources,
  };
}

describe('a floating IP', () => {
  it('is made of the external network, led to a port, taken off and removed', async () => {
    const accepted = await http.post(FLOATING, { tags: { env: 'test' } });
    const listed = (await http.get(`${FLOATING}?tag_key_value=${encodeURIComponent('{"env":"test"}')}`)).body;
    expect(listed).toMatchObject({
      count: 1,
      results: [{ creator_task_id: accepted.body[0], status: 'DOWN', port_id: null }],
    });
    const task = await done(accepted);
    expect(task.task_type).toBe('create_fip');
    const [id] = task.created_resources.floatingips;
    expect(await get(id)).toEqual({
      id,
      floating_ip_address: expect.stringMatching(/^198\.18\./),
      fixed_ip_address: null,
      port_id: null,
      router_id: null,
      status: 'DOWN',
      tags: [{ key: 'env', value: 'test', read_only: false }],
      project_id: 1,
      region: 'Port Halden',
      region_id: 1,
      creator_task_id: accepted.body[0],
      task_id: null,
      created_at: expect.stringMatching(/\+0000$/),
      updated_at: expect.stringMatching(/\+0000$/),
    });

    const { id: instanceId, port, address } = await instance();
    for (let time = 0; time < 2; time++) {
      const assigned = await http.post(`${FLOATING}/${id}/assign`, { port_id: port });
      expect(assigned.status, assigned.text).toBe(200);
      expect(assigned.body).toMatchObject({ status: 'ACTIVE', port_id: port, fixed_ip_address: address });
    }
    const shown = (await http.get(`${I}/${instanceId}`)).body.addresses.default;
    const { floating_ip_address: addr } = await get(id);
    expect(shown).toEqual([expect.objectContaining({ type: 'fixed', addr: address }), { type: 'floating', addr }]);
    expect((await http.get(`${I}?ip=${addr}`)).body.count).toBe(1);
    const [shownInterface] = (await http.get(`${I}/${instanceId}/interfaces`)).body.results;
    expect(shownInterface.floatingip_details).toEqual([await get(id)]);
    expect((await http.get(`${FLOATING}?status=ACTIVE`)).body.count).toBe(1);

    for (let time = 0; time < 2; time++) {
      const off = await http.post(`${FLOATING}/${id}/unassign`);
      expect(off.status, off.text).toBe(200);
      expect(off.body).toMatchObject({ status: 'DOWN', port_id: null, fixed_ip_address: null });
    }
    const removal = await done(await http.delete(`${FLOATING}/${id}`));
    expect(removal.task_type).toBe('delete_fip');
    expect((await http.get(`${FLOATING}/${id}`)).status).toBe(404);
  });

  it('can be led to a port as it is made, and one address has one', async () => {
    const { port, address } = await instance();
    const id = await create({ port_id: port, fixed_ip_address: address });
    expect(await get(id)).toMatchObject({ status: 'ACTIVE', port_id: port });
    const second = await http.post(FLOATING, { port_id: port });
    expect(second.status).toBe(409);
    expect(second.body.message).toContain(id);
    const other = await create();
    const taken = await http.post(`${FLOATING}/${other}/assign`, { port_id: port });
    expect(taken.status).toBe(409);
    const elsewhere = await instance();
    const moved = await http.post(`${FLOATING}/${id}/assign`, { port_id: elsewhere.port });
    expect(moved.status).toBe(409);
    expect(moved.body.message).toContain(port);
  });

  it('refuses what makes no sense, by field', async () => {
    const { port } = await instance();
    const outside = await instance({ type: 'external' });
    for (const [body, field] of [
      [{ port_id: unknown }, 'port_id'],
      [{ port_id: outside.port }, 'port_id'],
      [{ port_id: port, fixed_ip_address: '10.0.200.200' }, 'fixed_ip_address'],
      [{ fixed_ip_address: '10.0.0.2' }, 'port_id'],
    ] as const) {
      const refused = await http.post(FLOATING, body);
      expect(refused.status, refused.text).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    }
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/assign'],
      ['POST', '/unassign'],
    ] as const) {
      const body = path === '/assign' ? { body: { port_id: port } } : {};
      const answer = await http.request(method, `${FLOATING}/${unknown}${path}`, body);
      expect(answer.status, method + path).toBe(404);
    }
  });

  it('leads to the first address that is free where a port has several', async () => {
    const { port, address } = await instance();
    const { body } = await http.get(`/cloud/v1/ports/1/1/${port}`);
    const subnet_id = body.ip_assignments[0].subnet_id;
    const both = [
      { ip_address: address, subnet_id },
      { ip_address: '10.0.9.77', subnet_id },
    ];
    await done(await http.patch(`/cloud/v1/ports/1/1/${port}`, { ip_assignments: both }));
    const id = await create({ port_id: port, fixed_ip_address: '10.0.9.77' });
    const first = await create({ port_id: port });
    expect(await get(first)).toMatchObject({ fixed_ip_address: address });
    const again = await http.post(`${FLOATING}/${id}/assign`, { port_id: port });
    expect(again.body, again.text).toMatchObject({ fixed_ip_address: '10.0.9.77' });
    const third = await http.post(FLOATING, { port_id: port });
    expect(third.status).toBe(409);
    expect(third.body.message).toContain(first);
    const losing = await http.patch(`/cloud/v1/ports/1/1/${port}`, { ip_assignments: [both[0]] });
    expect(losing.status).toBe(409);
    expect(losing.body.message).toContain(id);
  });

  it('is held by its task', async () => {
    const id = await create();
    const task = crypto.randomUUID();
    await service.pool.query('update floating_ips set task_id = $1 where id = $2', [task, id]);
    const { port } = await instance();
    for (const answer of [
      await http.post(`${FLOATING}/${id}/assign`, { port_id: port }),
      await http.post(`${FLOATING}/${id}/unassign`),
      await http.delete(`${FLOATING}/${id}`),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body.message).toContain(task);
    }
    await service.pool.query('update floating_ips set task_id = null where id = $1', [id]);
  });

  it('is nobody else’s', async () => {
    const id = await create();
    const other = await service.otherTenant();
    const theirs = `/cloud/v1/floatingips/${other.projectId}/1`;
    expect((await other.http.get(theirs)).body).toEqual({ count: 0, results: [] });
    expect((await other.http.get(`${theirs}/${id}`)).status).toBe(404);
    expect((await other.http.delete(`${theirs}/${id}`)).status).toBe(404);
    const { port } = await instance();
    const stolen = await other.http.post(theirs, { port_id: port });
    expect(stolen.status).toBe(400);
    const users = await service.withRole('Users');
    expect((await users.get(FLOATING)).status).toBe(200);
    expect((await users.post(FLOATING, {})).status).toBe(403);
  });
});

it('the older list has those that lead nowhere, and nothing of others', async () => {
  const free = (await http.get('/cloud/v1/availablefloatingips/1/1')).body;
  const { body } = await http.get(`${FLOATING}?status=DOWN`);
  const ids = (list: { results: { id: string }[] }) => list.results.map(({ id }) => id);
  expect([free.count, ids(free)]).toEqual([body.count, ids(body)]);
  const [idle, { port }] = [await create(), await instance()];
  await create({ port_id: port });
  const later = (await http.get('/cloud/v1/availablefloatingips/1/1')).body;
  expect([later.count, later.results[0]]).toEqual([free.count + 1, await get(idle)]);
  const other = await service.otherTenant();
  const theirs = await other.http.get(`/cloud/v1/availablefloatingips/${other.projectId}/1`);
  expect(theirs.body).toEqual({ count: 0, results: [] });
  expect((await http.get('/cloud/v1/availablefloatingips/1/1?limit=1')).status).toBe(400);
});

describe('floating IPs of interfaces', () => {
  const inner = (floating_ip: object) => ({ type: 'any_subnet', network_id: network, floating_ip });

  it('are made and taken with an instance; of those only the named go with it', async () => {
    const existing = await create();
    const before = await counts();
    const made = await instance(
      inner({ source: 'new' }),
      inner({ source: 'existing', existing_floating_id: existing }),
    );
    const [fresh] = made.created.floatingips;
    expect(made.created.floatingips).toHaveLength(1);
    expect(await get(fresh)).toMatchObject({ status: 'ACTIVE', port_id: made.port, task_id: null });
    expect(await get(existing)).toMatchObject({ status: 'ACTIVE', task_id: null });
    expect((await http.get(`${I}?uuid=${made.id}&available_floating=true`)).body.count).toBe(0);
    for (const query of [`floatings=${unknown}`, `floatings=${fresh}&delete_floatings=true`]) {
      expect((await http.delete(`${I}/${made.id}?${query}`)).status, query).toBe(400);
    }
    await done(await http.delete(`${I}/${made.id}?floatings=${fresh}`));
    expect((await http.get(`${FLOATING}/${fresh}`)).status).toBe(404);
    expect(await get(existing)).toMatchObject({ status: 'DOWN', port_id: null, task_id: null });
    expect(await counts()).toEqual(before);
  });

  it('all go with the instance where that is asked for, and none where nothing is', async () => {
    const before = await counts();
    const first = await instance(inner({ source: 'new' }), inner({ source: 'new' }));
    await done(await http.delete(`${I}/${first.id}?delete_floatings=true`));
    expect(await counts()).toEqual(before);
    const second = await instance(inner({ source: 'new' }));
    await done(await http.delete(`${I}/${second.id}`));
    const [kept] = second.created.floatingips;
    expect(await get(kept)).toMatchObject({ status: 'DOWN', task_id: null });
  });

  it('come with an interface that is attached, and stay when it is detached', async () => {
    const { id } = await instance();
    const task = await done(await http.post(`${I}/${id}/attach_interface`, inner({ source: 'new' })));
    const [floating] = task.created_resources.floatingips;
    const attached = await get(floating);
    expect(attached).toMatchObject({ status: 'ACTIVE', port_id: task.created_resources.ports[0] });
    const { port_id, fixed_ip_address: ip_address } = attached;
    await done(await http.post(`${I}/${id}/detach_interface`, { port_id, ip_address }));
    expect(await get(floating)).toMatchObject({ status: 'DOWN', port_id: null });
  });

  it.each([
    [{ source: 'existing' }, 'existing_floating_id'],
    [{ source: 'new', existing_floating_id: unknown }, 'existing_floating_id'],
    [{ source: 'existing', existing_floating_id: unknown }, 'existing_floating_id'],
    [{ source: 'borrowed' }, 'source'],
  ])('are refused as %j', async (floating_ip, field) => {
    const before = await counts();
    const { id } = await instance();
    const refused = await http.post(`${I}/${id}/attach_interface`, inner(floating_ip));
    expect(refused.status, refused.text).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([`floating_ip.${field}`]);
    await done(await http.delete(`${I}/${id}`));
    expect(await counts()).toEqual(before);
  });

  it('are refused in the external network', async () => {
    const [external] = (await http.get('/cloud/v1/networks/1/1?owned_by=any&external=true')).body.results;
    const { id } = await instance();
    const refused = await http.post(`${I}/${id}/attach_interface`, {
      ...inner({ source: 'new' }),
      network_id: external.id,
    });
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.invalid_fields).toHaveProperty('floating_ip');
  });
});

describe('at the same time', () => {
  it('fifty get fifty addresses', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => http.post(FLOATING, {})));
    const ids = await Promise.all(answers.map(async (answer) => (await done(answer)).created_resources.floatingips[0]));
    const found = await Promise.all(ids.map(get));
    expect(new Set(found.map((one) => one.floating_ip_address)).size).toBe(50);
    const removals = await Promise.all(ids.map((id) => http.delete(`${FLOATING}/${id}`)));
    for (const removal of removals) await done(removal);
    const { rows } = await service.pool.query(
      `select used_ips::int as used, (select count(*) from ip_assignments where subnet_id = subnets.id)::int as taken
      from subnets where used_ips > 0`,
    );
    for (const { used, taken } of rows) expect(used).toBe(taken);
    const { used, floating } = await counts();
    expect(used).toBe(floating);
  });

  it('one instance gets a floating IP that many want', async () => {
    const id = await create();
    const floating_ip = { source: 'existing', existing_floating_id: id };
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        http.post('/cloud/v2/instances/1/1', {
          name: `race-${index}`,
          flavor: 'g1-standard-1-2',
          interfaces: [{ type: 'any_subnet', network_id: network, floating_ip }],
          volumes: [BOOT_VOLUME],
        }),
      ),
    );
    expect(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .join(),
    ).toBe('200,409,409,409,409,409');
    const winner = answers.find(({ status }) => status === 200);
    if (winner) await done(winner);
    expect((await http.get(`${I}?name=race-`)).body.count).toBe(1);
    expect(await get(id)).toMatchObject({ status: 'ACTIVE' });
  });

  it('one port gets one of many floating IPs, without a deadlock', async () => {
    const { port } = await instance();
    const ids = await Promise.all(Array.from({ length: 6 }, () => create()));
    const answers = await Promise.all(ids.map((id) => http.post(`${FLOATING}/${id}/assign`, { port_id: port })));
    expect(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .join(),
    ).toBe('200,409,409,409,409,409');
    const { rows } = await service.pool.query(
      'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });
});

/** Counts what could be left behind, and the quota in use. */
async function counts() {
  const { rows } = await service.pool.query(
    `select (select count(*) from floating_ips)::int as floating,
      (select count(*) from ip_assignments where floating_ip_id is not null)::int as addresses,
      (select coalesce(sum(used), 0) from quota_usage where attribute = 'floating_count')::int as used`,
  );
  return rows[0];
}
