import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';
import { unchanged } from '../../../../../test/support/unchanged.ts';

const POOLS = '/cloud/v1/lbpools/1/1';
const MONITOR = { type: 'HTTP', delay: 10, timeout: 5, max_retries: 2, url_path: '/healthz' };

let service: TestService;
let http: HttpClient;
let subnet: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const { body } = await http.get('/cloud/v1/networks/1/1?name=default');
  subnet = body.results[0].subnets[0];
});
afterAll(() => service.stop());

type Answer = Awaited<ReturnType<HttpClient['get']>>;
async function finished({ status, body, text }: Answer) {
  expect(status, text).toBe(200);
  expect(body).toHaveLength(1);
  const task = await http.task(body[0]);
  expect(task, task.error).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
function refused({ status, body, text }: Answer, expected: number, ...fields: string[]) {
  expect(status, text).toBe(expected);
  if (fields.length > 0) expect(Object.keys(body.invalid_fields)).toEqual(fields);
}

const member = (address: string, more: object = {}) => ({ address, protocol_port: 80, ...more });
/** Makes a pool on a load balancer of its own, and returns its ID. */
async function pool(more: object = {}): Promise<string> {
  const made = await finished(await http.post('/cloud/v1/loadbalancers/1/1', { name: 'balancer' }));
  const [load_balancer_id] = made.created_resources.loadbalancers;
  const body = { name: 'pool', load_balancer_id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', ...more };
  return (await finished(await http.post(POOLS, body))).created_resources.pools[0];
}
const membersOf = (id: string) => `/cloud/v1/loadbalancers/1/1/pools/${id}/members`;
const put = (path: string, body: unknown) => http.request('PUT', path, { body });
const wantedMembers = async (id: string) =>
  (
    await service.pool.query(
      `select spec -> 'pools' -> $1 -> 'members' as members from wants
       where id = (select load_balancer_id from lb_pools where lb_pools.id = $1::uuid)`,
      [id],
    )
  ).rows[0].members;

describe('a member', () => {
  it('is added, read, changed and removed', async () => {
    const members = membersOf(await pool());
    const asked = member('10.0.9.9', { subnet_id: subnet, monitor_port: 8080 });
    const task = await finished(await http.post(members, asked));
    expect(task.task_type).toBe('create_lbmember');
    const [id] = task.created_resources.members;
    const one = `${members}/${id}`;
    const shown = {
      id,
      ...asked,
      weight: 1,
      backup: false,
      admin_state_up: true,
      monitor_address: null,
      provisioning_status: 'ACTIVE',
      operating_status: 'NO_MONITOR',
    };
    expect((await http.get(one)).body).toEqual(shown);
    expect((await http.get(members)).body).toEqual({ count: 1, results: [shown] });

    const change = { weight: 9, backup: true, monitor_address: 'FD00::0:1', monitor_port: null };
    const changing = await finished(await http.patch(one, change));
    expect(changing).toMatchObject({ task_type: 'update_lbmember', data: { member_id: id, weight: 9 } });
    const changed = { ...shown, ...change, monitor_address: 'fd00::1' };
    expect((await http.get(one)).body).toEqual(changed);
    for (const same of [change, {}, { monitor_address: 'fd00::1' }]) {
      await unchanged(http, await http.patch(one, same));
    }
    await finished(await http.patch(one, { monitor_address: null, admin_state_up: false }));
    expect((await http.get(one)).body).toEqual({
      ...changed,
      monitor_address: null,
      admin_state_up: false,
      operating_status: 'OFFLINE',
    });

    expect(await finished(await http.delete(one))).toMatchObject({ task_type: 'delete_lbmember' });
    refused(await http.get(one), 404);
    expect((await http.get(members)).body).toEqual({ count: 0, results: [] });
  });

  it('is the same at its older address', async () => {
    const id = await pool({ members: [member('10.1.0.1')] });
    const [first] = (await http.get(membersOf(id))).body.results;
    refused(await http.post(`${POOLS}/${id}/member`, member('10.1.0.1')), 409);
    await finished(await http.delete(`${POOLS}/${id}/member/${first.id}`));
    refused(await http.get(`${membersOf(id)}/${first.id}`), 404);
  });

  it('is changed at a version', async () => {
    const members = membersOf(await pool({ members: [member('10.1.0.1')] }));
    const [{ id }] = (await http.get(members)).body.results;
    const one = `${members}/${id}`;
    const etag = (await http.get(one)).headers.get('etag') ?? '';
    const change = (weight: number) => http.request('PATCH', one, { body: { weight }, headers: { 'if-match': etag } });
    await finished(await change(2));
    refused(await change(3), 412);
    expect((await http.get(one)).body.weight).toBe(2);
  });

  it('is refused with what can not be, and where it is not', async () => {
    const id = await pool({ members: [member('10.1.0.1')] });
    const members = membersOf(id);
    const [{ id: memberId }] = (await http.get(members)).body.results;
    const bad: [object, string][] = [
      [{ weight: 0 }, 'weight'],
      [{ weight: null }, 'weight'],
      [{ monitor_address: '' }, 'monitor_address'],
      [{ monitor_port: 65_536 }, 'monitor_port'],
      [{ address: '10.1.0.2' }, 'address'],
      [{ protocol_port: 81 }, 'protocol_port'],
      [{ subnet_id: subnet }, 'subnet_id'],
    ];
    for (const [change, field] of bad) refused(await http.patch(`${members}/${memberId}`, change), 400, field);
    const other = membersOf(await pool());
    for (const base of [other, membersOf(randomUUID()), membersOf('none')]) {
      refused(await http.get(`${base}/${memberId}`), 404);
      refused(await http.patch(`${base}/${memberId}`, { weight: 2 }), 404);
      refused(await http.delete(`${base}/${memberId}`), 404);
    }
    for (const base of [membersOf(randomUUID()), membersOf('none')]) {
      refused(await http.get(base), 404);
      refused(await http.post(base, member('10.1.0.9')), 404);
      refused(await put(base, []), 404);
    }
    refused(await http.get(`${members}/none`), 404);
    expect((await http.get(members)).body).toMatchObject({ count: 1, results: [{ weight: 1 }] });
  });
});

it('members are listed by address as a number or by age, in pages', async () => {
  const members = membersOf(
    await pool({
      members: [member('10.1.0.10'), member('10.1.0.9', { protocol_port: 81 }), member('10.1.0.9'), member('fd00::1')],
    }),
  );
  const listed = async (query = '') => {
    const { body, text, status } = await http.get(`${members}${query}`);
    expect(status, text).toBe(200);
    expect(body.count).toBe(4);
    return body.results.map((one: { address: string; protocol_port: number }) => `${one.address} ${one.protocol_port}`);
  };
  const byAddress = ['10.1.0.9 80', '10.1.0.9 81', '10.1.0.10 80', 'fd00::1 80'];
  const byAge = ['10.1.0.10 80', '10.1.0.9 81', '10.1.0.9 80', 'fd00::1 80'];
  expect(await listed()).toEqual(byAddress);
  expect(await listed('?order_by=address.desc')).toEqual(byAddress.toReversed());
  expect(await listed('?order_by=created_at.asc')).toEqual(byAge);
  expect(await listed('?order_by=created_at.desc')).toEqual(byAge.toReversed());
  expect(await listed('?limit=2&offset=1')).toEqual(byAddress.slice(1, 3));
  expect(await listed('?offset=4')).toEqual([]);
  refused(await http.get(`${members}?order_by=weight.asc`), 400, 'order_by');
});

describe('all members of a pool', () => {
  it('are replaced, and those that stay are kept', async () => {
    const id = await pool({ members: [member('10.1.0.1'), member('10.1.0.2')] });
    const members = membersOf(id);
    const before = (await http.get(members)).body.results;
    const wanted = [member('10.1.0.2', { weight: 7 }), member('10.1.0.3', { backup: true })];
    const task = await finished(await put(members, wanted));
    expect(task).toMatchObject({ task_type: 'patch_lbpool', data: { pool_id: id } });
    const after = (await http.get(members)).body.results;
    expect(after).toMatchObject([
      { id: before[1].id, address: '10.1.0.2', weight: 7 },
      { address: '10.1.0.3', backup: true },
    ]);
    expect(Object.keys(await wantedMembers(id)).toSorted()).toEqual(
      after.map((one: { id: string }) => one.id).toSorted(),
    );
    await unchanged(http, await put(members, wanted.toReversed()));
    await finished(await put(members, []));
    expect((await http.get(members)).body.results).toEqual([]);
    await unchanged(http, await put(members, []));
  });

  it('stay where a wanted one can not be', async () => {
    const members = membersOf(await pool({ members: [member('10.1.0.1')] }));
    const bad: [unknown, string][] = [
      [[member('10.1.0.2'), member('10.1.0.2')], '1.address'],
      [[member('x')], '0.address'],
      [[member('10.1.0.2'), member('10.1.0.3', { weight: 257 })], '1.weight'],
      [[member('10.1.0.2', { subnet_id: subnet })], '0.address'],
      [[member('10.1.0.2', { subnet_id: randomUUID() })], '0.subnet_id'],
      [[member('10.1.0.2', { instance_id: randomUUID() })], '0.instance_id'],
      [[member('10.1.0.2', { colour: 'red' })], '0.colour'],
      [[{ address: '10.1.0.2' }], '0.protocol_port'],
      [Array.from({ length: 251 }, (_, index) => member(`10.2.0.${index}`)), 'body'],
      [{ members: [] }, 'body'],
      [undefined, 'body'],
    ];
    for (const [body, field] of bad) refused(await put(members, body), 400, field);
    expect((await http.get(members)).body).toMatchObject({ count: 1, results: [{ address: '10.1.0.1' }] });
  });
});

describe('a health monitor', () => {
  it('is read and changed in part', async () => {
    const id = await pool({ healthmonitor: MONITOR, members: [member('10.1.0.1')] });
    const monitor = `${POOLS}/${id}/healthmonitor`;
    const read = (await http.get(monitor)).body;
    expect(read).toEqual({
      ...MONITOR,
      id: expect.any(String),
      admin_state_up: true,
      max_retries_down: 3,
      http_method: null,
      http_version: null,
      expected_codes: null,
      domain_name: null,
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
    });
    const change = {
      delay: 30,
      expected_codes: '200-204',
      http_version: '1.1',
      domain_name: 'a.example.com',
    };
    const task = await finished(await http.patch(monitor, change));
    expect(task).toMatchObject({
      task_type: 'update_lbpool_health_monitor',
      data: { pool_id: id, delay: 30 },
    });
    expect((await http.get(monitor)).body).toEqual({ ...read, ...change });
    expect((await http.get(`${POOLS}/${id}`)).body.healthmonitor).toEqual({ ...read, ...change });
    for (const same of [change, {}, { timeout: 5 }]) {
      await unchanged(http, await http.patch(monitor, same));
    }
    const cleared = { expected_codes: null, domain_name: null, url_path: null, http_version: null };
    await finished(await http.patch(monitor, { ...cleared, admin_state_up: false }));
    expect((await http.get(monitor)).body).toMatchObject({
      ...cleared,
      delay: 30,
      operating_status: 'OFFLINE',
    });
  });

  it('is refused with what does not fit the rest of it', async () => {
    const id = await pool({
      healthmonitor: { ...MONITOR, http_version: '1.1', domain_name: 'a.example.com' },
    });
    const monitor = `${POOLS}/${id}/healthmonitor`;
    const before = (await http.get(monitor)).body;
    const bad: [object, string][] = [
      [{ timeout: 10 }, 'timeout'],
      [{ delay: 5 }, 'timeout'],
      [{ delay: null }, 'delay'],
      [{ max_retries: 11 }, 'max_retries'],
      [{ http_version: null }, 'http_version'],
      [{ url_path: '/a?b' }, 'url_path'],
      [{ type: 'HTTP' }, 'type'],
    ];
    for (const [change, field] of bad) refused(await http.patch(monitor, change), 400, field);
    expect((await http.get(monitor)).body).toEqual(before);
    const tcp = await pool({ healthmonitor: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 } });
    refused(await http.patch(`${POOLS}/${tcp}/healthmonitor`, { url_path: '/' }), 400, 'url_path');
    await unchanged(http, await http.patch(`${POOLS}/${tcp}/healthmonitor`, { url_path: null }));
  });

  it('is not found in a pool without one', async () => {
    const none = `${POOLS}/${await pool()}/healthmonitor`;
    for (const monitor of [none, `${POOLS}/${randomUUID()}/healthmonitor`, `${POOLS}/none/healthmonitor`]) {
      refused(await http.get(monitor), 404);
      refused(await http.patch(monitor, { delay: 20 }), 404);
    }
  });

  it('is changed at a version of its pool', async () => {
    const monitor = `${POOLS}/${await pool({ healthmonitor: MONITOR })}/healthmonitor`;
    const etag = (await http.get(monitor)).headers.get('etag') ?? '';
    const change = (delay: number) =>
      http.request('PATCH', monitor, { body: { delay }, headers: { 'if-match': etag } });
    await finished(await change(20));
    refused(await change(30), 412);
  });
});

it('changes of parts are refused while a task holds the load balancer', async () => {
  const id = await pool({ healthmonitor: MONITOR, members: [member('10.1.0.1')] });
  const members = membersOf(id);
  const [{ id: memberId }] = (await http.get(members)).body.results;
  await service.pool.query(
    'update load_balancers set task_id = $1 where id = (select load_balancer_id from lb_pools where lb_pools.id = $2)',
    [randomUUID(), id],
  );
  const answers = [
    await http.post(members, member('10.1.0.2')),
    await put(members, []),
    await http.patch(`${members}/${memberId}`, { weight: 2 }),
    await http.delete(`${members}/${memberId}`),
    await http.patch(`${POOLS}/${id}/healthmonitor`, { delay: 20 }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409]);
});
