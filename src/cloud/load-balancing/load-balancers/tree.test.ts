import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { unchanged } from '../../../../test/support/unchanged.ts';

const BALANCERS = '/cloud/v1/loadbalancers/1/1';
const LISTENERS = '/cloud/v1/lblisteners/1/1';
const POOLS = '/cloud/v1/lbpools/1/1';
const POLICIES = '/cloud/v1/l7policies/1/1';

let service: TestService;
let network: { id: string; subnets: string[] };
beforeAll(async () => {
  service = await borrowService();
  const { body } = await service.http.get('/cloud/v1/networks/1/1?name=default');
  network = body.results[0];
});
afterAll(() => service.stop());

type Answer = Awaited<ReturnType<TestService['http']['get']>>;
async function finished({ status, body, text }: Answer) {
  expect(status, text).toBe(200);
  expect(body).toHaveLength(1);
  const task = await service.http.task(body[0]);
  expect(task, task.error).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
async function refused(answer: Answer, status: number, ...fields: string[]) {
  expect(answer.status, answer.text).toBe(status);
  if (fields.length > 0) expect(Object.keys(answer.body.invalid_fields)).toEqual(fields);
}
const balancer = async (more: object = {}) =>
  (await finished(await service.http.post(BALANCERS, { name: 'balancer', ...more }))).created_resources;
const only = async (path: string, body: object, kind: string) =>
  (await finished(await service.http.post(path, body))).created_resources[kind][0];
const wanted = async (id: string) =>
  (await service.pool.query(`select spec from wants where kind = 'load_balancer' and id = $1`, [id])).rows[0].spec;

const listener = (load_balancer_id: string, protocol_port: number, more: object = {}) =>
  only(LISTENERS, { name: 'listener', load_balancer_id, protocol: 'HTTP', protocol_port, ...more }, 'listeners');
const pool = (more: object) =>
  only(POOLS, { name: 'pool', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', ...more }, 'pools');

const MONITOR = { type: 'HTTP', delay: 10, timeout: 5, max_retries: 2, url_path: '/healthz' };

describe('a whole tree', () => {
  it('is created with its load balancer, and goes with it', async () => {
    const created = await balancer({
      listeners: [
        {
          name: 'web',
          protocol: 'HTTP',
          protocol_port: 80,
          allowed_cidrs: ['10.0.0.0/8'],
          insert_x_forwarded: true,
          pools: [
            {
              name: 'servers',
              protocol: 'HTTP',
              lb_algorithm: 'LEAST_CONNECTIONS',
              session_persistence: { type: 'HTTP_COOKIE' },
              healthmonitor: MONITOR,
              members: [
                { address: '192.168.40.33', protocol_port: 8080, weight: 5 },
                { address: '192.168.40.34', protocol_port: 8080, backup: true },
              ],
            },
          ],
        },
        { name: 'names', protocol: 'UDP', protocol_port: 80 },
      ],
    });
    expect(created).toMatchObject({
      loadbalancers: [expect.any(String)],
      listeners: [expect.any(String), expect.any(String)],
      pools: [expect.any(String)],
      members: [expect.any(String), expect.any(String)],
      healthmonitors: [expect.any(String)],
    });
    const [id] = created.loadbalancers;
    const [web] = created.listeners;
    const [servers] = created.pools;
    const one = await service.http.get(`${BALANCERS}/${id}`);
    expect(one.body.listeners.map((row: { id: string }) => row.id).toSorted()).toEqual(created.listeners.toSorted());
    expect((await service.http.get(`${LISTENERS}/${web}?show_stats=true`)).body).toEqual({
      id: web,
      load_balancer_id: id,
      name: 'web',
      protocol: 'HTTP',
      protocol_port: 80,
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
      admin_state_up: true,
      connection_limit: 100_000,
      insert_headers: {
        'X-Forwarded-For': 'true',
        'X-Forwarded-Port': 'true',
        'X-Forwarded-Proto': 'true',
      },
      allowed_cidrs: ['10.0.0.0/8'],
      timeout_client_data: null,
      timeout_member_connect: null,
      timeout_member_data: null,
      pool_count: 1,
      secret_id: null,
      sni_secret_id: [],
      stats: expect.objectContaining({ total_connections: 0 }),
      user_list: [],
      creator_task_id: expect.any(String),
      task_id: null,
    });
    const { body } = await service.http.get(`${POOLS}/${servers}`);
    expect(body).toMatchObject({
      id: servers,
      listeners: [{ id: web }],
      loadbalancers: [{ id }],
      session_persistence: { type: 'HTTP_COOKIE', cookie_name: null },
      healthmonitor: {
        ...MONITOR,
        id: created.healthmonitors[0],
        max_retries_down: 3,
        admin_state_up: true,
        operating_status: 'ONLINE',
      },
      members: [
        { address: '192.168.40.33', protocol_port: 8080, weight: 5, backup: false, subnet_id: null },
        { address: '192.168.40.34', weight: 1, backup: true, operating_status: 'ONLINE' },
      ],
    });
    expect(await wanted(id)).toMatchObject({
      listeners: { [web]: { port: 80, defaultPoolId: servers, forwardedHeaders: true } },
      pools: { [servers]: { monitor: { http: { path: '/healthz' } } } },
    });
    await finished(await service.http.delete(`${BALANCERS}/${id}`));
    for (const url of [`${LISTENERS}/${web}`, `${POOLS}/${servers}`]) {
      expect((await service.http.get(url)).status).toBe(404);
    }
  });

  it.each<[string, object, string[]]>([
    ['a pool that does not fit', { protocol: 'TCP' }, ['listeners.0.pools.0.protocol']],
    ['a bad address', { members: [{ address: 'x', protocol_port: 1 }] }, ['listeners.0.pools.0.members.0.address']],
    ['a slow timeout', { healthmonitor: { ...MONITOR, timeout: 20 } }, ['listeners.0.pools.0.healthmonitor.timeout']],
    [
      'an unknown subnet',
      { members: [{ address: '10.0.0.5', protocol_port: 1, subnet_id: randomUUID() }] },
      ['listeners.0.pools.0.members.0.subnet_id'],
    ],
    ['an unknown field', { colour: 'red' }, ['listeners.0.pools.0.colour']],
  ])('is refused with %s', async (_, change, fields) => {
    const bad = { name: 'pool', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', ...change };
    const listeners = [{ name: 'web', protocol: 'HTTP', protocol_port: 80, pools: [bad] }];
    await refused(await service.http.post(BALANCERS, { name: 'refused', listeners }), 400, ...fields);
  });
});

describe('a listener', () => {
  it('has a port of its own, is changed, listed and deleted', async () => {
    const { loadbalancers } = await balancer();
    const [id] = loadbalancers;
    const first = await listener(id, 80);
    await listener(id, 80, { protocol: 'UDP' });
    const taken = { name: 'taken', load_balancer_id: id, protocol: 'TCP', protocol_port: 80 };
    const again = await service.http.post(LISTENERS, taken);
    await refused(again, 409);
    expect(again.body.message).toContain('port 80');

    const change = { connection_limit: 10, allowed_cidrs: ['10.0.0.0/8'], timeout_client_data: 1000 };
    const url = `/cloud/v2/lblisteners/1/1/${first}`;
    expect(await finished(await service.http.patch(url, change))).toMatchObject({
      task_type: 'patch_lblistener',
    });
    expect((await service.http.get(`${LISTENERS}/${first}`)).body).toMatchObject(change);
    await unchanged(service.http, await service.http.patch(url, change));
    const ranges = async () => (await wanted(id)).listeners[first].allowedCidrs;
    expect(await ranges()).toEqual(['10.0.0.0/8']);
    await finished(await service.http.patch(url, { allowed_cidrs: [] }));
    expect(await ranges()).toBeUndefined();
    expect((await service.http.get(`${LISTENERS}/${first}`)).body.allowed_cidrs).toEqual([]);
    await finished(await service.http.patch(url, { allowed_cidrs: null, connection_limit: -1 }));
    expect((await service.http.get(`${LISTENERS}/${first}`)).body).toMatchObject({
      allowed_cidrs: null,
      connection_limit: 100_000,
      timeout_client_data: 1000,
    });
    const renamed = await service.http.patch(`${LISTENERS}/${first}`, { name: 'renamed' });
    expect(renamed.body).toMatchObject({ id: first, name: 'renamed' });

    const list = await service.http.get(`${LISTENERS}?load_balancer_id=${id}`);
    expect(list.body).toMatchObject({ count: 2, results: [{ protocol: 'UDP' }, { id: first }] });
    const named = await service.http.get(`${LISTENERS}?load_balancer_id=${id}&name=renam&limit=1`);
    expect(named.body).toMatchObject({ count: 1, results: [{ id: first, stats: null }] });

    await finished(await service.http.delete(`${LISTENERS}/${first}`));
    expect((await service.http.get(`${LISTENERS}/${first}`)).status).toBe(404);
    expect(Object.keys((await wanted(id)).listeners)).toHaveLength(1);
  });

  it('takes its default pool along only if nobody else needs it', async () => {
    const { loadbalancers } = await balancer();
    const [load_balancer_id] = loadbalancers;
    const first = await listener(load_balancer_id, 80);
    const id = await pool({ listener_id: first });
    const second = await listener(load_balancer_id, 81, { default_pool_id: id });
    await refused(await service.http.delete(`${LISTENERS}/${first}?delete_default_pool=true`), 409);
    await finished(await service.http.delete(`${LISTENERS}/${first}`));
    expect((await service.http.get(`${POOLS}/${id}`)).body.listeners).toEqual([{ id: second }]);
    await finished(await service.http.delete(`${LISTENERS}/${second}?delete_default_pool=true`));
    expect((await service.http.get(`${POOLS}/${id}`)).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ['an unknown load balancer', { load_balancer_id: randomUUID() }, 'load_balancer_id'],
    ['an unknown pool', { default_pool_id: randomUUID() }, 'default_pool_id'],
    ['a port that is none', { protocol_port: 65_536 }, 'protocol_port'],
    ['headers without HTTP', { protocol: 'TCP', insert_x_forwarded: true }, 'insert_x_forwarded'],
    ['ranges that are none', { allowed_cidrs: ['10.0.0.1/8'] }, 'allowed_cidrs.0'],
    ['ranges of the other family', { allowed_cidrs: ['10.0.0.0/8', 'fd00::/8'] }, 'allowed_cidrs.1'],
    ['another protocol', { protocol: 'SMTP' }, 'protocol'],
    ['users without HTTP', { protocol: 'TCP', user_list: [{ username: 'one', encrypted_password: 'x' }] }, 'user_list'],
    [
      'a hash with a line break',
      { user_list: [{ username: 'one', encrypted_password: 'x\nuser two' }] },
      'user_list.0.encrypted_password',
    ],
  ])('is refused with %s', async (_, change, field) => {
    there ??= (await balancer()).loadbalancers[0];
    const base = { name: 'refused', load_balancer_id: there, protocol: 'HTTP', protocol_port: 80 };
    await refused(await service.http.post(LISTENERS, { ...base, ...change }), 400, field);
  });
  let there: string | undefined;

  it('lets nobody in by ranges of a family that its load balancer has no address of', async () => {
    const { loadbalancers } = await balancer();
    const id = await listener(loadbalancers[0], 80);
    const change = { allowed_cidrs: ['::/0'] };
    await refused(
      await service.http.patch(`${LISTENERS.replace('/v1/', '/v2/')}/${id}`, change),
      400,
      'allowed_cidrs.0',
    );
    const before = (await service.http.get('/cloud/v1/loadbalancers/1/1')).body.count;
    const tree = { name: 'web', protocol: 'HTTP', protocol_port: 80, ...change };
    const made = await service.http.post('/cloud/v1/loadbalancers/1/1', {
      name: 'x-1',
      flavor: 'lb1-1-2',
      listeners: [tree],
    });
    await refused(made, 400, 'listeners.0.allowed_cidrs.0');
    expect((await service.http.get('/cloud/v1/loadbalancers/1/1')).body.count).toBe(before);
  });

  it('shows its users, and no task does', async () => {
    const { loadbalancers } = await balancer();
    const user_list = [{ username: 'admin', encrypted_password: '$5$secret' }];
    const answer = await service.http.post(LISTENERS, {
      name: 'with users',
      load_balancer_id: loadbalancers[0],
      protocol: 'HTTP',
      protocol_port: 80,
      user_list,
    });
    const task = await finished(answer);
    expect(JSON.stringify(task)).not.toContain('$5$secret');
    const { body } = await service.http.get(`${LISTENERS}/${task.created_resources.listeners[0]}`);
    expect(body.user_list).toEqual(user_list);
  });
});

describe('a pool', () => {
  it('is replaced member by member, and keeps those that stay', async () => {
    const { loadbalancers } = await balancer();
    const member = (address: string, more: object = {}) => ({ address, protocol_port: 80, ...more });
    const id = await pool({
      load_balancer_id: loadbalancers[0],
      members: [member('10.1.0.1'), member('10.1.0.2')],
    });
    const url = `/cloud/v2/lbpools/1/1/${id}`;
    const before = (await service.http.get(`${POOLS}/${id}`)).body.members;
    const members = [member('10.1.0.2', { weight: 7 }), member('10.1.0.3')];
    expect(await finished(await service.http.patch(url, { members }))).toMatchObject({
      task_type: 'patch_lbpool',
    });
    const after = (await service.http.get(`${POOLS}/${id}`)).body.members;
    expect(after).toMatchObject([{ address: '10.1.0.2', weight: 7 }, { address: '10.1.0.3' }]);
    expect(after[0].id).toBe(before[1].id);
    await unchanged(service.http, await service.http.patch(url, { members }));

    const change = {
      lb_algorithm: 'SOURCE_IP',
      protocol: 'TCP',
      session_persistence: { type: 'SOURCE_IP' },
      healthmonitor: { type: 'TCP', delay: 5, timeout: 2, max_retries: 1 },
      timeout_member_data: 500,
    };
    await finished(await service.http.patch(url, change));
    const { body } = await service.http.get(`${POOLS}/${id}`);
    expect(body).toMatchObject(change);
    await refused(
      await service.http.patch(url, { healthmonitor: { ...change.healthmonitor, type: 'PING' } }),
      400,
      'healthmonitor.type',
    );
    await finished(await service.http.patch(`${POOLS}/${id}`, { healthmonitor: null, session_persistence: null }));
    expect((await service.http.get(`${POOLS}/${id}`)).body).toMatchObject({
      healthmonitor: null,
      session_persistence: null,
      members: [{ operating_status: 'NO_MONITOR' }, {}],
    });
    await finished(await service.http.patch(url, { members: null }));
    expect((await service.http.get(`${POOLS}/${id}`)).body.members).toEqual([]);
  });

  it('gains and loses members and its monitor', async () => {
    const { loadbalancers } = await balancer();
    const id = await pool({ load_balancer_id: loadbalancers[0] });
    const members = `${POOLS}/${id}/member`;
    const one = { address: '10.1.0.1', protocol_port: 80 };
    const member = await only(members, one, 'members');
    await refused(await service.http.post(members, one), 409);
    await refused(await service.http.post(members, { ...one, address: 'x' }), 400, 'address');
    const monitor = `${POOLS}/${id}/healthmonitor`;
    expect((await service.http.delete(monitor)).status).toBe(404);
    const task = await finished(await service.http.post(monitor, MONITOR));
    expect(task).toMatchObject({ task_type: 'create_lbpool_health_monitor' });
    await refused(await service.http.post(monitor, MONITOR), 409);
    const { body } = await service.http.get(`${POOLS}/${id}`);
    expect(body).toMatchObject({
      healthmonitor: { id: task.created_resources.healthmonitors[0] },
      members: [{ id: member, operating_status: 'ONLINE' }],
    });
    expect((await service.http.delete(monitor)).status).toBe(204);
    expect((await service.http.get(`${POOLS}/${id}`)).body.healthmonitor).toBeNull();
    await settled(loadbalancers[0]);
    await finished(await service.http.delete(`${members}/${member}`));
    expect((await service.http.get(`${POOLS}/${id}`)).body.members).toEqual([]);
    expect((await service.http.delete(`${members}/${member}`)).status).toBe(404);
  });

  /** What no task waits for is done soon. */
  const settled = (id: string) =>
    expect
      .poll(async () => {
        const { rows } = await service.pool.query(
          'select settled_generation = generation as done from wants where id = $1',
          [id],
        );
        return rows[0].done;
      })
      .toBe(true);

  it('has so many members at most, and so many over all pools of a load balancer', async () => {
    const pools = (sizes: number[]) =>
      sizes.map((size, index) => ({
        name: 'web',
        protocol: 'TCP',
        protocol_port: 80 + index,
        pools: [
          {
            name: 'servers',
            protocol: 'TCP',
            lb_algorithm: 'ROUND_ROBIN',
            members: Array.from({ length: size }, (_, port) => ({
              address: '10.1.0.1',
              protocol_port: 1 + port,
            })),
          },
        ],
      }));
    const create = (listeners: object[]) => service.http.post(BALANCERS, { name: 'full', listeners });
    await refused(await create(pools([251])), 400, 'listeners.0.pools.0.members');
    await refused(await create(pools([250, 250, 250, 250, 1])), 400, 'listeners');
    const made = (await finished(await create(pools([250, 250, 250, 249])))).created_resources;
    const [first, , , last] = made.pools;
    const member = { address: '10.1.0.2', protocol_port: 1 };
    const full = await service.http.post(`${POOLS}/${first}/member`, member);
    expect([full.status, full.body.message]).toEqual([409, expect.stringContaining('250 members')]);
    const added = await only(`${POOLS}/${last}/member`, member, 'members');
    const another = await pool({ load_balancer_id: made.loadbalancers[0] });
    const beyond = await service.http.post(`${POOLS}/${another}/member`, member);
    expect([beyond.status, beyond.body.message]).toEqual([409, expect.stringContaining('1001 members')]);
    await finished(await service.http.delete(`${POOLS}/${last}/member/${added}`));
    await only(`${POOLS}/${another}/member`, member, 'members');
  });

  it('finds members in subnets and instances, and keeps their subnets', async () => {
    const image = (await service.http.get('/cloud/v1/images/1/1')).body.results[0].id;
    const instance = await finished(
      await service.http.post('/cloud/v2/instances/1/1', {
        name: 'web server',
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'any_subnet', network_id: network.id }],
        volumes: [{ source: 'image', image_id: image, size: 20 }],
      }),
    );
    const [instance_id] = instance.created_resources.instances;
    const { addresses } = (await service.http.get(`/cloud/v1/instances/1/1/${instance_id}`)).body;
    const address = addresses.default[0].addr;
    const { loadbalancers } = await balancer();
    const id = await pool({
      load_balancer_id: loadbalancers[0],
      members: [{ address, protocol_port: 80, instance_id }],
    });
    const { body } = await service.http.get(`${POOLS}/${id}`);
    expect(body.members).toMatchObject([{ address, subnet_id: network.subnets[0] }]);
    const members = `${POOLS}/${id}/member`;
    const refusals: [object, string][] = [
      [{ address: '10.99.0.1', instance_id }, 'address'],
      [{ address, instance_id: randomUUID() }, 'instance_id'],
      [{ address: '10.99.0.1', subnet_id: network.subnets[0] }, 'address'],
      [{ address, subnet_id: randomUUID() }, 'subnet_id'],
    ];
    for (const [request, field] of refusals) {
      await refused(await service.http.post(members, { protocol_port: 81, ...request }), 400, field);
    }
    const own = await finished(
      await service.http.post('/cloud/v1/networks/1/1', { name: 'of members', create_router: false }),
    );
    const [network_id] = own.created_resources.networks;
    const subnet_id = await only(
      '/cloud/v1/subnets/1/1',
      { name: 'of members', network_id, cidr: '10.30.0.0/24' },
      'subnets',
    );
    await only(members, { address: '10.30.0.9', protocol_port: 80, subnet_id }, 'members');
    const subnet = await service.http.delete(`/cloud/v1/subnets/1/1/${subnet_id}`);
    expect(subnet.status).toBe(409);
    expect(subnet.body.message).toContain(loadbalancers[0]);
  });

  it('is refused where it fits nothing', async () => {
    const { loadbalancers } = await balancer();
    const [load_balancer_id] = loadbalancers;
    const other = (await balancer()).loadbalancers[0];
    const tcp = await listener(load_balancer_id, 22, { protocol: 'TCP' });
    const base = { name: 'pool', protocol: 'UDP', lb_algorithm: 'ROUND_ROBIN' };
    const refusals: [object, string][] = [
      [{}, 'load_balancer_id'],
      [{ load_balancer_id: randomUUID() }, 'load_balancer_id'],
      [{ listener_id: randomUUID() }, 'listener_id'],
      [{ listener_id: tcp, load_balancer_id: other }, 'listener_id'],
      [{ listener_id: tcp }, 'protocol'],
    ];
    for (const [request, field] of refusals) {
      await refused(await service.http.post(POOLS, { ...base, ...request }), 400, field);
    }
    const id = await pool({ listener_id: tcp, protocol: 'TCP' });
    await refused(await service.http.post(POOLS, { ...base, protocol: 'TCP', listener_id: tcp }), 409);
    await refused(await service.http.patch(`${POOLS}/${id}`, { protocol: 'UDP' }), 400, 'protocol');
  });

  it('is listed by what uses it, in short or in detail', async () => {
    const { loadbalancers } = await balancer();
    const [load_balancer_id] = loadbalancers;
    const web = await listener(load_balancer_id, 80);
    const members = [{ address: '10.1.0.1', protocol_port: 80 }];
    const first = await pool({ listener_id: web, members });
    const second = await pool({ load_balancer_id, name: 'spare' });
    const list = async (query: string) => (await service.http.get(`${POOLS}?${query}`)).body;
    const all = await list(`load_balancer_id=${load_balancer_id}`);
    expect(all).toMatchObject({ count: 2, results: [{ id: second }, { id: first }] });
    expect(all.results[1].members).toEqual([{ id: expect.any(String) }]);
    expect(await list(`listener_id=${web}&details=true`)).toMatchObject({
      count: 1,
      results: [{ id: first, members: [{ address: '10.1.0.1', weight: 1 }] }],
    });
    expect(await list(`load_balancer_id=${load_balancer_id}&name=spa`)).toMatchObject({ count: 1 });
    await finished(await service.http.delete(`${POOLS}/${first}`));
    expect((await service.http.get(`${LISTENERS}/${web}`)).body.pool_count).toBe(0);
  });
});

describe('an L7 policy', () => {
  it('has its place among others, rules and a target', async () => {
    const { loadbalancers } = await balancer();
    const [load_balancer_id] = loadbalancers;
    const listener_id = await listener(load_balancer_id, 80);
    const target = await pool({ load_balancer_id });
    const url = { listener_id, action: 'REDIRECT_TO_URL', redirect_url: 'https://www.example.com' };
    const first = await only(POLICIES, url, 'l7polices');
    const second = await only(
      POLICIES,
      { listener_id, action: 'REDIRECT_TO_POOL', redirect_pool_id: target, position: 1, tags: ['a'] },
      'l7polices',
    );
    const positions = async () =>
      Promise.all([first, second].map(async (id) => (await service.http.get(`${POLICIES}/${id}`)).body.position));
    expect(await positions()).toEqual([2, 1]);
    expect((await service.http.get(`${POLICIES}/${first}`)).body).toMatchObject({
      name: first,
      action: 'REDIRECT_TO_URL',
      redirect_http_code: 302,
      redirect_url: 'https://www.example.com',
      redirect_pool_id: null,
      rules: [],
      operating_status: 'ONLINE',
      region: 'Port Halden',
    });
    const moved = { action: 'REDIRECT_TO_URL', redirect_url: 'https://shop.example.com' };
    await finished(await service.http.patch(`${POLICIES}/${first}`, { ...moved, redirect_http_code: 301 }));
    await unchanged(service.http, await service.http.patch(`${POLICIES}/${first}`, moved));
    const held = await service.http.delete(`${POOLS}/${target}`);
    expect([held.status, held.body.message]).toEqual([409, expect.stringContaining(second)]);

    const rules = `${POLICIES}/${second}/rules`;
    const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: '/images' };
    const id = await only(rules, rule, 'l7rules');
    expect((await service.http.get(`${rules}/${id}`)).body).toMatchObject({
      ...rule,
      key: null,
      invert: false,
      tags: [],
    });
    await refused(await service.http.post(rules, { ...rule, type: 'HEADER' }), 400, 'key');
    await refused(await service.http.post(rules, { ...rule, type: 'HEADER', key: 'A: b' }), 400, 'key');
    await refused(await service.http.post(rules, { ...rule, value: '/images\r\n' }), 400, 'value');
    await finished(await service.http.put(`${rules}/${id}`, { type: 'HEADER', key: 'Accept', invert: true }));
    expect((await service.http.get(rules)).body).toMatchObject({
      count: 1,
      results: [{ id, type: 'HEADER', key: 'Accept', invert: true, value: '/images' }],
    });
    await unchanged(service.http, await service.http.put(`${rules}/${id}`, { invert: true }));
    await finished(await service.http.put(`${rules}/${id}`, { type: 'PATH' }));
    expect((await service.http.get(`${rules}/${id}`)).body).toMatchObject({ type: 'PATH', key: null });
    expect((await service.http.get(`${POLICIES}/${first}/rules/${id}`)).status).toBe(404);
    expect((await wanted(load_balancer_id)).listeners[listener_id].policies[second]).toEqual({
      name: second,
      position: 1,
      action: { kind: 'redirect_to_pool', poolId: target },
      rules: { [id]: { type: 'PATH', compare: 'STARTS_WITH', value: '/images', invert: true } },
    });

    await finished(
      await service.http.patch(`${POLICIES}/${second}`, { action: 'REJECT', name: 'no images', position: 2 }),
    );
    expect(await positions()).toEqual([3, 2]);
    expect((await service.http.get(`${POLICIES}/${second}`)).body).toMatchObject({
      name: 'no images',
      action: 'REJECT',
      redirect_pool_id: null,
      rules: [{ id }],
    });
    await finished(await service.http.delete(`${rules}/${id}`));
    await finished(await service.http.delete(`${POOLS}/${target}`));
    await finished(await service.http.delete(`${POLICIES}/${second}`));
    expect((await service.http.get(`${POLICIES}/${second}`)).status).toBe(404);
    await finished(await service.http.delete(`${LISTENERS}/${listener_id}`));
    expect((await service.http.get(`${POLICIES}/${first}`)).status).toBe(404);
    expect((await service.http.get(POLICIES)).body.results.map((one: { id: string }) => one.id)).not.toContain(first);
  });

  it('is refused where it leads nowhere', async () => {
    const { loadbalancers } = await balancer();
    const [load_balancer_id] = loadbalancers;
    const listener_id = await listener(load_balancer_id, 80);
    const tcp = await listener(load_balancer_id, 81, { protocol: 'TCP' });
    const wrong = await pool({ load_balancer_id, protocol: 'TCP' });
    const url = { listener_id, action: 'REDIRECT_TO_URL', redirect_url: 'https://www.example.com' };
    const refusals: [object, string][] = [
      [{ ...url, listener_id: randomUUID() }, 'listener_id'],
      [{ ...url, listener_id: tcp }, 'listener_id'],
      [{ ...url, redirect_url: 'example' }, 'redirect_url'],
      [{ ...url, redirect_url: 'https://www.example.com/\r\nX: y' }, 'redirect_url'],
      [{ ...url, redirect_http_code: 200 }, 'redirect_http_code'],
      [{ ...url, redirect_pool_id: wrong }, 'redirect_pool_id'],
      [{ listener_id, action: 'REDIRECT_TO_POOL', redirect_pool_id: wrong }, 'redirect_pool_id'],
      [{ listener_id, action: 'REDIRECT_TO_POOL', redirect_pool_id: randomUUID() }, 'redirect_pool_id'],
      [{ listener_id, action: 'REDIRECT_PREFIX', redirect_prefix: 'x' }, 'redirect_prefix'],
      [{ listener_id, action: 'IGNORE' }, 'action'],
    ];
    for (const [request, field] of refusals) {
      await refused(await service.http.post(POLICIES, request), 400, field);
    }
  });
});

it('is resized and fails over', async () => {
  const { loadbalancers } = await balancer();
  const url = `${BALANCERS}/${loadbalancers[0]}`;
  expect(await finished(await service.http.post(`${url}/resize`, { flavor: 'lb1-2-4' }))).toMatchObject({
    task_type: 'resize_loadbalancer',
  });
  expect((await service.http.get(url)).body.flavor).toMatchObject({ flavor_id: 'lb1-2-4' });
  for (const flavor of ['lb1-2-4', 'g1-standard-1-2', 'lb9']) {
    await refused(await service.http.post(`${url}/resize`, { flavor }), 400, 'flavor');
  }
  for (const body of [{}, { force: true }]) {
    expect(await finished(await service.http.post(`${url}/failover`, body))).toMatchObject({
      task_type: 'failover_loadbalancer',
    });
  }
  expect(await wanted(loadbalancers[0])).toMatchObject({ failovers: 2, flavorId: 'lb1-2-4' });
  const metrics = await service.http.post(`${url}/metrics`, { time_unit: 'day', time_interval: 1 });
  expect(metrics.body.count).toBe(metrics.body.results.length);
  await refused(await service.http.post(`${url}/metrics`, { time_unit: 'week', time_interval: 1 }), 400, 'time_unit');
});

it('a change that another task holds up is refused, whatever part it is of', async () => {
  const created = await balancer({
    listeners: [
      {
        name: 'web',
        protocol: 'HTTP',
        protocol_port: 80,
        pools: [
          {
            name: 'servers',
            protocol: 'HTTP',
            lb_algorithm: 'ROUND_ROBIN',
            healthmonitor: MONITOR,
            members: [{ address: '10.1.0.1', protocol_port: 80 }],
          },
        ],
      },
    ],
  });
  const [id] = created.loadbalancers;
  const [listener_id] = created.listeners;
  const [pool_id] = created.pools;
  const policy = await only(POLICIES, { listener_id, action: 'REJECT' }, 'l7polices');
  const rule = { type: 'PATH', compare_type: 'EQUAL_TO', value: '/' };
  const ruleId = await only(`${POLICIES}/${policy}/rules`, rule, 'l7rules');
  await service.pool.query('update load_balancers set task_id = $1 where id = $2', [randomUUID(), id]);
  const one = { address: '10.1.0.9', protocol_port: 80 };
  const { http } = service;
  const fresh = { name: 'fresh', protocol: 'HTTP' };
  const answers = [
    await http.post(LISTENERS, { ...fresh, load_balancer_id: id, protocol_port: 81 }),
    await http.patch(`${LISTENERS}/${listener_id}`, { name: 'other' }),
    await http.patch(`/cloud/v2/lblisteners/1/1/${listener_id}`, { name: 'other' }),
    await http.delete(`${LISTENERS}/${listener_id}`),
    await http.post(POOLS, { ...fresh, load_balancer_id: id, lb_algorithm: 'ROUND_ROBIN' }),
    await http.patch(`${POOLS}/${pool_id}`, { name: 'other' }),
    await http.delete(`${POOLS}/${pool_id}`),
    await http.post(`${POOLS}/${pool_id}/member`, one),
    await http.delete(`${POOLS}/${pool_id}/member/${created.members[0]}`),
    await http.delete(`${POOLS}/${pool_id}/healthmonitor`),
    await http.post(POLICIES, { listener_id, action: 'REJECT' }),
    await http.patch(`${POLICIES}/${policy}`, { action: 'REJECT', name: 'other' }),
    await http.delete(`${POLICIES}/${policy}`),
    await http.post(`${POLICIES}/${policy}/rules`, rule),
    await http.put(`${POLICIES}/${policy}/rules/${ruleId}`, { value: '/other' }),
    await http.delete(`${POLICIES}/${policy}/rules/${ruleId}`),
    await http.post(`${BALANCERS}/${id}/resize`, { flavor: 'lb1-2-4' }),
    await http.post(`${BALANCERS}/${id}/failover`, {}),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 409));
});
