import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/cloud/v1/loadbalancers/1/1';
const POOLS = '/cloud/v1/lbpools/1/1';
const MEMBER = { address: '10.1.0.1', protocol_port: 80 };
const LISTENERS = [
  {
    name: 'web',
    protocol: 'HTTP',
    protocol_port: 80,
    pools: [{ name: 'servers', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', members: [MEMBER] }],
  },
];

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service.stop());

async function started(answer: { status: number; text: string; body: string[] }): Promise<string> {
  expect(answer.status, answer.text).toBe(200);
  return answer.body[0] ?? '';
}

async function overrun(taskId: string) {
  await service.pool.query(
    `update tasks set created_on = created_on - interval '1 day', deadline_at = deadline_at - interval '1 day' where id = $1`,
    [taskId],
  );
  return service.http.task(taskId);
}

/** Pretends that the simulated work began an hour earlier. */
async function hurry() {
  await service.pool.query(`update simulated_objects set began_at = began_at - interval '1 hour'`);
  await service.pool.query('update wants set due_at = clock_timestamp() where due_at is not null');
}
const quotas = async () =>
  (
    await service.pool.query(
      `select attribute, used from quota_usage where attribute in ('floating_count', 'loadbalancer_count') and used <> 0`,
    )
  ).rows;
const ended = async (taskId: string) =>
  expect
    .poll(async () => {
      await hurry();
      return (await service.http.get(`/v1/tasks/${taskId}`)).body.state;
    })
    .toBe('FINISHED');

async function made() {
  const task = await started(await service.http.post(BASE, { name: 'kept', listeners: LISTENERS }));
  await ended(task);
  return (await service.http.get(`/v1/tasks/${task}`)).body.created_resources;
}

it('a load balancer is there while it is made, and gone with everything when that fails', async () => {
  const [network] = (await service.http.get('/cloud/v1/networks/1/1?name=default')).body.results;
  const body = { name: 'never ready', vip_network_id: network.id, floating_ip: { source: 'new' } };
  const task = await started(await service.http.post(BASE, { ...body, listeners: LISTENERS }));
  const [one] = (await service.http.get(BASE)).body.results;
  expect(one).toMatchObject({
    provisioning_status: 'PENDING_CREATE',
    operating_status: 'OFFLINE',
    task_id: task,
  });
  const { body: status } = await service.http.get(`${BASE}/${one.id}/status`);
  expect(status).toMatchObject({
    provisioning_status: 'PENDING_CREATE',
    listeners: [{ provisioning_status: 'PENDING_CREATE', pools: [{ members: [{}], health_monitor: null }] }],
  });
  const held = await service.http.delete(`${BASE}/${one.id}`);
  expect(held.status).toBe(409);
  expect(await quotas()).toHaveLength(2);
  expect(await overrun(task)).toMatchObject({ state: 'ERROR', created_resources: null });
  expect((await service.http.get(`${BASE}/${one.id}`)).status).toBe(404);
  expect(await quotas()).toEqual([]);
  const left = async () => {
    await hurry();
    const { rows } = await service.pool.query(
      `select kind from wants where kind in ('floating_ip', 'load_balancer', 'port')
       union all select kind from simulated_objects where kind in ('floating_ip', 'load_balancer', 'port')`,
    );
    return rows;
  };
  await expect.poll(left).toEqual([]);
  for (const table of ['lb_listeners', 'lb_pools', 'lb_members', 'ports', 'floating_ips']) {
    expect((await service.pool.query(`select from ${table}`)).rows, table).toEqual([]);
  }
});

it('a change that fails leaves everything as it was', async () => {
  const { loadbalancers, pools, members } = await made();
  const url = `${POOLS}/${pools[0]}`;
  const before = await service.pool.query('select spec from wants where id = $1', [loadbalancers[0]]);
  const task = await started(
    await service.http.patch(url, {
      name: 'changed',
      members: [
        { ...MEMBER, weight: 9 },
        { address: '10.1.0.2', protocol_port: 80 },
      ],
      healthmonitor: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 },
    }),
  );
  expect((await service.http.get(url)).body).toMatchObject({
    name: 'changed',
    provisioning_status: 'PENDING_UPDATE',
    task_id: task,
    members: [
      { weight: 9, provisioning_status: 'PENDING_UPDATE' },
      { provisioning_status: 'PENDING_CREATE', operating_status: 'OFFLINE' },
    ],
  });
  expect((await service.http.get(`${BASE}/${loadbalancers[0]}`)).body).toMatchObject({
    provisioning_status: 'PENDING_UPDATE',
    task_id: task,
  });
  expect(await overrun(task)).toMatchObject({ state: 'ERROR' });
  expect((await service.http.get(url)).body).toMatchObject({
    name: 'servers',
    provisioning_status: 'ACTIVE',
    task_id: null,
    healthmonitor: null,
    members: [{ id: members[0], weight: 1, provisioning_status: 'ACTIVE' }],
  });
  const after = await service.pool.query('select spec from wants where id = $1', [loadbalancers[0]]);
  expect(after.rows).toEqual(before.rows);

  const removal = await started(await service.http.delete(url));
  expect((await service.http.get(url)).body).toMatchObject({
    provisioning_status: 'PENDING_DELETE',
    members: [{ provisioning_status: 'PENDING_DELETE' }],
  });
  await overrun(removal);
  expect((await service.http.get(url)).body).toMatchObject({
    provisioning_status: 'ACTIVE',
    listeners: [{}],
    members: [{ id: members[0], provisioning_status: 'ACTIVE' }],
  });
  const restored = await service.pool.query('select spec from wants where id = $1', [loadbalancers[0]]);
  expect(restored.rows).toEqual(before.rows);
});

it('members and a monitor that are changed by themselves come back when that fails', async () => {
  const { pools, members } = await made();
  const url = `${BASE}/pools/${pools[0]}/members`;
  const monitor = `${POOLS}/${pools[0]}/healthmonitor`;
  const wish = { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 };
  await ended(await started(await service.http.post(monitor, wish)));
  const all = async () => [(await service.http.get(url)).body, (await service.http.get(monitor)).body];
  const before = await all();
  const changes: [string, string, unknown][] = [
    [
      'PUT',
      url,
      [
        { ...MEMBER, weight: 9 },
        { address: '10.1.0.2', protocol_port: 80 },
      ],
    ],
    ['PUT', url, []],
    ['PATCH', `${url}/${members[0]}`, { weight: 9, monitor_address: '10.1.0.7' }],
    ['PATCH', monitor, { delay: 60 }],
  ];
  for (const [method, path, body] of changes) {
    const task = await started(await service.http.request(method, path, { body }));
    expect(JSON.stringify(await all())).toMatch(/PENDING_(UPDATE|DELETE)/);
    expect(await overrun(task)).toMatchObject({ state: 'ERROR' });
    expect(await all()).toEqual(before);
  }
});

it('a removal that takes too long goes on, and can be asked for again', async () => {
  const { loadbalancers } = await made();
  const url = `${BASE}/${loadbalancers[0]}`;
  const task = await started(await service.http.delete(url));
  expect(await overrun(task)).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('the removal continues'),
  });
  expect((await service.http.get(url)).body).toMatchObject({
    provisioning_status: 'PENDING_DELETE',
    task_id: task,
  });
  const again = await started(await service.http.delete(url));
  expect(again).not.toBe(task);
  await ended(again);
  expect((await service.http.get(url)).status).toBe(404);
});
