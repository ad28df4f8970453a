import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CLUSTERS, makeCluster, POOL } from '../../../../test/support/clusters.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const FAULTS = '/tradewind/v1/test/faults';
const at = (family: string, id = '', version = 'v1') => `/cloud/${version}/${family}/1/1${id && `/${id}`}`;

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());
afterEach(() => service.http.delete(FAULTS));

let made = 0;
const unique = (name: string) => `${name}-${++made}`;

async function make(path: string, body: object): Promise<string> {
  const answer = await service.http.post(path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  const id = answer.body.id ?? answer.body.servergroup_id;
  if (id) return id;
  const task = await service.http.task(answer.body.tasks?.[0] ?? answer.body[0]);
  expect(task.state, task.error).toBe('FINISHED');
  const { instances = Object.values(task.created_resources).flat() } = task.created_resources;
  return String(instances[0]);
}

/** Accepts the deletion and returns its task. */
async function remove(path: string, http = service.http): Promise<string> {
  const answer = await http.delete(path);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  return answer.body[0];
}

const task = async (id: string) => (await service.http.get(`/v1/tasks/${id}`)).body;

/** Holds all tasks of the type until the test lets them go on. */
async function hold(type: string): Promise<() => Promise<void>> {
  const rule = await service.http.post(FAULTS, { task: type, do: { hold: true } });
  expect(rule.status, rule.text).toBe(201);
  return async () => void (await service.http.delete(FAULTS));
}

async function network(): Promise<{ networkId: string; subnetId: string }> {
  const networkId = await make(at('networks'), { name: unique('net'), create_router: true });
  const subnetId = await make(at('subnets'), {
    name: unique('sub'),
    network_id: networkId,
    cidr: '10.3.0.0/24',
  });
  return { networkId, subnetId };
}

async function instance(parts: { interfaces: object[]; volumes?: object[]; servergroup_id?: string }) {
  return make(at('instances', '', 'v2'), {
    name: unique('web'),
    flavor: 'g1-standard-1-2',
    volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 }],
    ...parts,
  });
}

/** A floating IP on the port of a machine whose deletion is held up. */
async function floatingOfGoing() {
  const { subnetId } = await network();
  const port = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
  const floating = await make(at('floatingips'), { port_id: port });
  const id = await instance({ interfaces: [{ type: 'reserved_fixed_ip', port_id: port }] });
  const goOn = await hold('delete_vm');
  return { floating, first: await remove(at('instances', id)), goOn };
}

async function ends(ids: string[]): Promise<string[]> {
  const ended = await Promise.all(ids.map((id) => service.http.task(id)));
  return ended.map(({ state, error, task_type }) =>
    state === 'FINISHED' ? state : `${task_type}: ${error}`,
  );
}

describe('while an instance is being deleted, the deletion of', () => {
  it('its floating IP, reserved address, volume, group, subnet, network and placement group is accepted and waits', async () => {
    const { networkId, subnetId } = await network();
    const reserved = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
    const floating = await make(at('floatingips'), { port_id: reserved });
    const volume = await make(at('volumes'), { source: 'new-volume', name: unique('data'), size: 1 });
    const groups = [{ id: await make(at('securitygroups'), { security_group: { name: unique('group') } }) }];
    const together = await make(at('servergroups'), { name: unique('together'), policy: 'anti-affinity' });
    const id = await instance({
      interfaces: [
        { type: 'reserved_fixed_ip', port_id: reserved, security_groups: groups },
        { type: 'external', security_groups: groups },
      ],
      volumes: [
        { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 },
        { source: 'existing-volume', volume_id: volume },
      ],
      servergroup_id: together,
    });
    const goOn = await hold('delete_vm');
    const first = await remove(`${at('instances', id)}?volumes=${volume}`);
    const waiting = [
      await remove(at('floatingips', floating)),
      await remove(at('reserved_fixed_ips', reserved)),
      await remove(at('servergroups', together)),
      await remove(at('volumes', volume)),
    ];
    expect((await service.http.delete(at('instances', id))).status).toBe(409);
    expect(await task(waiting[0] ?? '')).toMatchObject({
      task_type: 'delete_fip',
      state: 'NEW',
      error: null,
      data: { floating_ip_id: floating },
    });
    // Asked for once more, it waits once.
    expect(await remove(at('floatingips', floating))).toBe(waiting[0]);
    // It is there until its own task deletes it.
    expect((await service.http.get(at('floatingips', floating))).body.task_id).toBe(first);
    await goOn();
    expect(await ends([first, ...waiting])).toEqual(Array(5).fill('FINISHED'));
    for (const path of [
      at('floatingips', floating),
      at('reserved_fixed_ips', reserved),
      at('servergroups', together),
      at('volumes', volume),
      at('instances', id),
    ]) {
      expect((await service.http.get(path)).status, path).toBe(404);
    }
    const left = await service.pool.query('select from waiting_deletions');
    expect(left.rowCount).toBe(0);
    expect(await ends([await remove(at('networks', networkId))])).toEqual(['FINISHED']);
  });

  it('the subnet and the network of its ports, and of the router there', async () => {
    const { networkId, subnetId } = await network();
    const routers = await service.http.get(at('routers'));
    const router = routers.body.results.find(({ interfaces }: { interfaces: { network_id: string }[] }) =>
      interfaces.some(({ network_id }) => network_id === networkId),
    ).id;
    const floating_ip = { source: 'new' };
    const id = await instance({
      interfaces: [{ type: 'subnet', network_id: networkId, subnet_id: subnetId, floating_ip }],
    });
    const goOn = await hold('delete_vm');
    const all = [
      await remove(`${at('instances', id)}?delete_floatings=true`),
      await remove(at('routers', router)),
      await remove(at('subnets', subnetId)),
      await remove(at('networks', networkId)),
    ];
    expect((await task(all[3] ?? '')).state).toBe('NEW');
    await goOn();
    expect(await ends(all)).toEqual(Array(4).fill('FINISHED'));
    expect((await service.http.get(at('networks', networkId))).status).toBe(404);
  });

  it('its security group answers when the port is gone', async () => {
    const group = await make(at('securitygroups'), { security_group: { name: unique('group') } });
    const id = await instance({ interfaces: [{ type: 'external', security_groups: [{ id: group }] }] });
    expect((await service.http.delete(at('securitygroups', group))).status).toBe(409);
    const goOn = await hold('delete_vm');
    const first = await remove(at('instances', id));
    const answer = service.http.delete(at('securitygroups', group));
    setTimeout(goOn, 300);
    expect((await answer).status).toBe(204);
    expect((await task(first)).state).toBe('FINISHED');
  });
});

it('a router that goes at the same time does not give an instance its floating IP back', async () => {
  const { subnetId } = await network();
  const router = await make(at('routers'), {
    name: unique('second'),
    interfaces: [{ type: 'subnet', subnet_id: subnetId }],
  });
  const reserved = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
  const floating = await make(at('floatingips'), { port_id: reserved });
  const id = await instance({ interfaces: [{ type: 'reserved_fixed_ip', port_id: reserved }] });
  const goOn = await hold('delete_vm');
  const all = [await remove(at('instances', id)), await remove(at('routers', router))];
  await goOn();
  expect(await ends(all)).toEqual(['FINISHED', 'FINISHED']);
  expect((await service.http.get(at('floatingips', floating))).body).toMatchObject({ port_id: null });
});

it('a deletion whose worker died goes on with another', async () => {
  const { floating, goOn } = await floatingOfGoing();
  const id = await remove(at('floatingips', floating));
  await service.pool.query('update waiting_deletions set worker_id = gen_random_uuid(), claims = claims + 1');
  await goOn();
  expect(await ends([id])).toEqual(['FINISHED']);
});

it('what is really in use is refused as before', async () => {
  const { networkId, subnetId } = await network();
  const reserved = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
  const id = await instance({
    interfaces: [
      { type: 'subnet', network_id: networkId, subnet_id: subnetId },
      { type: 'reserved_fixed_ip', port_id: reserved },
    ],
  });
  for (const path of [
    at('subnets', subnetId),
    at('networks', networkId),
    at('reserved_fixed_ips', reserved),
  ]) {
    expect((await service.http.delete(path)).status, path).toBe(409);
  }
  const goOn = await hold('delete_vm');
  const first = await remove(at('instances', id));
  // The instance goes, but leaves a reserved address in the subnet.
  const refused = await service.http.delete(at('subnets', subnetId));
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(`port ${reserved}`);
  await goOn();
  expect(await ends([first, await remove(at('reserved_fixed_ips', reserved))])).toEqual([
    'FINISHED',
    'FINISHED',
  ]);
});

it('a deletion does not wait for a task that makes or changes what it is about', async () => {
  const goOn = await hold('create_fip');
  const created = await service.http.post(at('floatingips'), {});
  const { body } = await service.http.get(at('floatingips'));
  const id = body.results.find((one: { task_id: string | null }) => one.task_id === created.body[0]).id;
  const refused = await service.http.delete(at('floatingips', id));
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(created.body[0])]);
  await goOn();
  expect(await ends([created.body[0]])).toEqual(['FINISHED']);
});

it('fails if what it deletes is in use by then', async () => {
  const { networkId, subnetId } = await network();
  const id = await instance({ interfaces: [{ type: 'subnet', network_id: networkId, subnet_id: subnetId }] });
  const goOn = await hold('delete_vm');
  const first = await remove(at('instances', id));
  const second = await remove(at('subnets', subnetId));
  await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
  await goOn();
  const [ended] = await ends([second, first]);
  expect(ended).toMatch(/delete_subnet: Subnet \S+ is in use/);
  expect((await service.http.get(at('subnets', subnetId))).status).toBe(200);
});

it('parts of one load balancer are deleted at the same time', async () => {
  const balancer = await make(at('loadbalancers'), { name: unique('lb'), flavor: 'lb1-1-2' });
  const pools = await Promise.all(
    [1, 2, 3].map(async (index) => {
      for (;;) {
        const answer = await service.http.post(at('lbpools'), {
          name: `pool-${index}`,
          protocol: 'TCP',
          lb_algorithm: 'ROUND_ROBIN',
          load_balancer_id: balancer,
        });
        if (answer.status === 409) continue;
        return (await service.http.task(answer.body[0])).created_resources.pools[0];
      }
    }),
  );
  const removed = await Promise.all(pools.map((id) => remove(at('lbpools', id))));
  expect(await ends([...removed, await remove(at('loadbalancers', balancer))])).toEqual(
    Array(4).fill('FINISHED'),
  );
});

it('a whole module goes at once, whatever comes first', async () => {
  for (let round = 0; round < 3; round++) {
    const { networkId, subnetId } = await network();
    const machines = await Promise.all(
      [1, 2, 3].map(async () => {
        const port = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
        const floating = await make(at('floatingips'), { port_id: port });
        const data = await make(at('volumes'), { source: 'new-volume', name: unique('data'), size: 1 });
        const id = await instance({
          interfaces: [{ type: 'reserved_fixed_ip', port_id: port }],
          volumes: [
            { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 },
            { source: 'existing-volume', volume_id: data },
          ],
        });
        return { port, floating, data, id };
      }),
    );
    // The users go first; all that they use is asked for in any order, at the same time.
    const first = await Promise.all(
      machines.flatMap(({ id, floating }) => [
        remove(at('floatingips', floating)),
        remove(at('instances', id)),
      ]),
    );
    const rest = [
      ...machines.flatMap(({ port, data }) => [at('reserved_fixed_ips', port), at('volumes', data)]),
    ].toSorted(() => Math.random() - 0.5);
    const answers = await Promise.all(rest.map((path) => service.http.delete(path)));
    // Those that were quick are gone already.
    expect(answers.map(({ status }) => status).filter((status) => status !== 404 && status !== 200)).toEqual(
      [],
    );
    const second = answers.flatMap(({ status, body }) => (status === 200 ? body : []));
    expect(await ends([...first, ...second])).toEqual(Array(first.length + second.length).fill('FINISHED'));
    const last = await Promise.all([remove(at('subnets', subnetId)), remove(at('networks', networkId))]);
    expect(await ends(last)).toEqual(['FINISHED', 'FINISHED']);
  }
});

it('ends with an error when its time is over', async () => {
  const { floating, first, goOn } = await floatingOfGoing();
  const id = await remove(at('floatingips', floating));
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 hour' where id = $1`, [id]);
  await vi.waitFor(async () => expect((await task(id)).state).toBe('ERROR'), 10_000);
  expect((await task(id)).error).toContain(`is held by task ${first}`);
  await goOn();
  await service.http.task(first);
  expect((await service.http.get(at('floatingips', floating))).status).toBe(200);
});

it('is cancelled as long as it waits, and then deletes nothing', async () => {
  const { floating, first, goOn } = await floatingOfGoing();
  const id = await remove(at('floatingips', floating));
  const cancelled = await service.http.post(`/tradewind/v1/tasks/${id}/cancel`);
  expect(cancelled.body, cancelled.text).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('Cancelled by user'),
  });
  await goOn();
  expect(await ends([first])).toEqual(['FINISHED']);
  expect((await service.http.get(at('floatingips', floating))).body).toMatchObject({ task_id: null });
});

it('spares what has taken the name over in the meantime', async () => {
  const { http } = service;
  await http.post('/cloud/v1/ssh_keys/1', { name: 'again' });
  const wish = { name: 'again', version: 'v1.32.13', keypair: 'again' };
  await makeCluster(http, { ...wish, pools: [POOL, { ...POOL, name: 'api' }] });
  const goOn = await hold('delete_k8s_cluster_pool_v2');
  const first = await remove(`${CLUSTERS}/again/pools/api`);
  const waits = await remove(`${CLUSTERS}/again`);
  await service.pool.query(`update waiting_deletions set due_at = now() + interval '1 hour'`);
  await goOn();
  expect(await ends([first])).toEqual(['FINISHED']);
  expect(await ends([await remove(`${CLUSTERS}/again`)])).toEqual(['FINISHED']);
  await makeCluster(http, { ...wish, pools: [POOL] });
  await service.pool.query('update waiting_deletions set due_at = now()');
  expect(await ends([waits])).toEqual(['FINISHED']);
  expect((await http.get(`${CLUSTERS}/again`)).body).toMatchObject({ status: 'Provisioned' });
});

it('other accounts learn nothing of it', async () => {
  const other = await service.otherTenant();
  const floating = await make(at('floatingips'), {});
  await hold('delete_fip');
  await remove(at('floatingips', floating));
  const path = `/cloud/v1/floatingips/${other.projectId}/1/${floating}`;
  expect((await other.http.delete(path)).status).toBe(404);
});
