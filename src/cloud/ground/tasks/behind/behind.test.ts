import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CLUSTERS, makeCluster, POOL } from '../../../../../test/support/clusters.ts';
import { SOON } from '../../../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { endWaiting } from '../../../../convergence/waiting-deletions.ts';
import { type Database, openDatabase } from '../../../../db/database.ts';
import { systemClock } from '../../../../lib/time.ts';
import { claimsIn } from '../../../../worker/claims.ts';
import * as store from './store.ts';

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
  return ended.map(({ state, error, task_type }) => (state === 'FINISHED' ? state : `${task_type}: ${error}`));
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

it('waits once, however its thing is written; with other options, it is refused', async () => {
  const volume = await make(at('volumes'), { source: 'new-volume', name: unique('data'), size: 1 });
  const volumes = [
    { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 },
    { source: 'existing-volume', volume_id: volume },
  ];
  const id = await instance({ interfaces: [{ type: 'external' }], volumes });
  const goOn = await hold('delete_vm');
  const first = await remove(at('instances', id));
  const [one, other] = [randomUUID(), randomUUID()];
  const waits = await remove(`${at('volumes', volume)}?snapshots=${one},${other}`);
  const again = `${at('volumes', volume.toUpperCase())}?snapshots=${other.toUpperCase()},${one}`;
  expect(await remove(again)).toBe(waits);
  for (const snapshots of ['', `?snapshots=${randomUUID()}`, `?snapshots=${one},${other},${randomUUID()}`]) {
    const refused = await service.http.delete(at('volumes', volume) + snapshots);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(waits)]);
  }
  await goOn();
  expect(await ends([first, waits])).toEqual(['FINISHED', 'FINISHED']);
});

it('an account has 2,000 of them waiting, in all of its projects', async () => {
  const { floating, first, goOn } = await floatingOfGoing();
  await service.pool.query(
    `with made as (
      insert into tasks (id, task_type, state, client_id, user_id, user_client_id, data, created_on, deadline_at)
      select gen_random_uuid(), 'delete_fip', 'NEW', 1, 1, 1, '{}', now(), now() + interval '1 hour'
      from generate_series(1, 2000) returning id
    )
    insert into waiting_deletions (task_id, kind, args, about, thing, client_id, project_id, region_id, behind)
    select id, 'delete_fip', '[]', '[]', id, 1, 0, 1, $1 from made`,
    [first],
  );
  const refused = await service.http.delete(at('floatingips', floating));
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(first)]);
  await service.pool.query('delete from tasks where id in (select task_id from waiting_deletions limit 1)');
  await vi.waitFor(async () => {
    const { rows } = await service.pool.query('select count(*)::integer from waiting_deletions');
    expect(rows).toEqual([{ count: 1_999 }]);
  }, SOON);
  const last = await remove(at('floatingips', floating));
  expect(await remove(at('floatingips', floating))).toBe(last);
  await service.pool.query(
    'delete from tasks where id in (select task_id from waiting_deletions where project_id = 0)',
  );
  await service.pool.query('delete from waiting_deletions where project_id = 0');
  await goOn();
  expect(await ends([last])).toEqual(['FINISHED']);
});

it('a deletion that moves behind another task does not take along what is free, and says what it waits for', async () => {
  const host = await instance({ interfaces: [{ type: 'external' }] });
  const volumes = await Promise.all(
    [1, 2].map(() => make(at('volumes'), { source: 'new-volume', name: unique('data'), size: 1 })),
  );
  const id = await instance({
    interfaces: [{ type: 'external' }],
    volumes: [
      { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 },
      ...volumes.map((one) => ({ source: 'existing-volume', volume_id: one })),
    ],
  });
  const letVmGo = await hold('delete_vm');
  const first = await remove(at('instances', id));
  const [moved = '', free = ''] = [await remove(at('volumes', volumes[0])), await remove(at('volumes', volumes[1]))];
  const soon = (task: string) =>
    service.pool.query('update waiting_deletions set due_at = now() where task_id = $1', [task]);
  await service.pool.query(`update waiting_deletions set due_at = now() + interval '1 hour'`);
  await letVmGo();
  expect(await ends([first])).toEqual(['FINISHED']);
  const goOn = await hold('attach_volume');
  const attached = await service.http.post(`${at('volumes', volumes[0], 'v2')}/attach`, {
    instance_id: host,
  });
  expect(attached.status, attached.text).toBe(200);
  await soon(moved);
  const attaching = attached.body[0];
  await vi.waitFor(async () => {
    const { rows } = await service.pool.query('select behind from waiting_deletions where task_id = $1', [moved]);
    expect(rows).toEqual([{ behind: attaching }]);
  }, SOON);
  expect((await task(moved)).data).toMatchObject({ volume_id: volumes[0], waits_for: attaching });
  await soon(free);
  expect(await ends([free])).toEqual(['FINISHED']);
  await goOn();
  expect((await ends([moved]))[0]).toMatch(/delete_volume: Volume \S+ is attached/);
});

it('has its second chance after a worker died, too', async () => {
  const { networkId, subnetId } = await network();
  const id = await instance({ interfaces: [{ type: 'subnet', network_id: networkId, subnet_id: subnetId }] });
  const goOn = await hold('delete_vm');
  const first = await remove(at('instances', id));
  const second = await remove(at('subnets', subnetId));
  const reserved = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
  await service.pool.query('update waiting_deletions set claims = claims + 1');
  await goOn();
  expect(await ends([first])).toEqual(['FINISHED']);
  await vi.waitFor(async () => {
    const later = await service.pool.query(
      `update waiting_deletions set due_at = now() + interval '1 hour' where claims > 1 and worker_id is null`,
    );
    expect([later.rowCount, (await task(second)).error]).toEqual([1, null]);
  }, SOON);
  expect(await ends([await remove(at('reserved_fixed_ips', reserved))])).toEqual(['FINISHED']);
  await service.pool.query('update waiting_deletions set due_at = now()');
  expect(await ends([second])).toEqual(['FINISHED']);
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
  for (const path of [at('subnets', subnetId), at('networks', networkId), at('reserved_fixed_ips', reserved)]) {
    expect((await service.http.delete(path)).status, path).toBe(409);
  }
  const goOn = await hold('delete_vm');
  const first = await remove(at('instances', id));
  // The instance goes, but leaves a reserved address in the subnet.
  const refused = await service.http.delete(at('subnets', subnetId));
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(`port ${reserved}`);
  await goOn();
  expect(await ends([first, await remove(at('reserved_fixed_ips', reserved))])).toEqual(['FINISHED', 'FINISHED']);
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
  expect(await ends([...removed, await remove(at('loadbalancers', balancer))])).toEqual(Array(4).fill('FINISHED'));
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
      machines.flatMap(({ id, floating }) => [remove(at('floatingips', floating)), remove(at('instances', id))]),
    );
    const rest = machines
      .flatMap(({ port, data }) => [at('reserved_fixed_ips', port), at('volumes', data)])
      .toSorted(() => Math.random() - 0.5);
    const answers = await Promise.all(rest.map((path) => service.http.delete(path)));
    // Those that were quick are gone already.
    expect(answers.map(({ status }) => status).filter((status) => status !== 404 && status !== 200)).toEqual([]);
    const second = answers.flatMap(({ status, body }) => (status === 200 ? body : []));
    expect(await ends([...first, ...second])).toEqual(Array(first.length + second.length).fill('FINISHED'));
    const last = await Promise.all([remove(at('subnets', subnetId)), remove(at('networks', networkId))]);
    expect(await ends(last)).toEqual(['FINISHED', 'FINISHED']);
  }
});

it('has more time while the task before it is in time', async () => {
  const { floating, goOn } = await floatingOfGoing();
  const id = await remove(at('floatingips', floating));
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 hour' where id = $1`, [id]);
  await vi.waitFor(async () => {
    const { rows } = await service.pool.query('select state, deadline_at > now() as early from tasks where id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ state: 'NEW', early: true }]);
  }, SOON);
  await goOn();
  expect(await ends([id])).toEqual(['FINISHED']);
});

it('ends with an error after a day, or when the time of the task before it is over as well', async () => {
  const { floating, first, goOn } = await floatingOfGoing();
  const id = await remove(at('floatingips', floating));
  await service.pool.query(
    `update tasks set deadline_at = now() - interval '1 hour', created_on = now() - interval '25 hours' where id = $1`,
    [id],
  );
  await vi.waitFor(async () => expect((await task(id)).state).toBe('ERROR'), SOON);
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

describe('in the database,', () => {
  // Without a worker, which would take them.
  let idle: TestService;
  let database: Database;
  beforeAll(async () => {
    idle = await startService({}, { role: 'api' });
    database = openDatabase({ connectionString: idle.pool.options.connectionString ?? '' }, 5);
  });
  afterAll(async () => {
    await database?.close();
    await idle?.stop();
  });
  afterEach(() => idle.pool.query('delete from waiting_deletions'));

  const worker = randomUUID();
  let tasks = 0;
  /** The later, the greater. */
  const nextTask = () => `${String(++tasks).padStart(8, '0')}-0000-4000-8000-000000000000`;
  async function begun(clientId: number): Promise<string> {
    const id = nextTask();
    await idle.pool.query(
      `insert into tasks (id, task_type, state, client_id, user_id, user_client_id, data, created_on, deadline_at)
       values ($1, 'delete_fip', 'NEW', $2, 1, 1, '{}', now(), now() + interval '1 hour')`,
      [id, clientId],
    );
    return id;
  }

  /** Deletions that wait for a task that has ended, unless another one is given. */
  async function wait(
    clientId: number,
    count: number,
    { behind = randomUUID(), balancer = '' }: { behind?: string; balancer?: string } = {},
  ): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const taskId = await begun(clientId);
      const about = [taskId, ...(balancer && [balancer])].map((id) => ({ type: 'lbpool' as const, id }));
      const place = { projectId: clientId, regionId: 1 };
      const row = {
        ...place,
        taskId,
        kind: 'delete_lbpool',
        args: [taskId],
        about,
        thing: taskId,
        clientId,
        behind,
      };
      await database.transaction((tx) => store.insertWaiting(tx, row));
      ids.push(taskId);
    }
    return ids;
  }
  const over = (...ids: (string | undefined)[]) =>
    idle.pool.query(`update tasks set state = 'FINISHED', updated_on = now(), finished_on = now() where id = any($1)`, [
      ids,
    ]);
  const take = (limit: number) => store.take(database.sql, worker, limit);
  const accountsOf = (taken: store.Claimed[]) => taken.map(({ clientId }) => clientId).toSorted((a, b) => a - b);
  const behindOf = async (ids: string[]) => {
    const { rows } = await idle.pool.query(
      'select behind from waiting_deletions where task_id = any($1) order by task_id',
      [ids],
    );
    return rows.map(({ behind }) => behind);
  };

  it('accounts take turns, each with what it asked for first', async () => {
    const [second, third] = [await idle.otherTenant(), await idle.otherTenant()];
    const many = await wait(1, 20);
    await wait(second.clientId, 1);
    const taken = await take(3);
    expect(accountsOf(taken)).toEqual([1, 1, second.clientId]);
    expect(taken.filter(({ clientId }) => clientId === 1).map(({ taskId }) => taskId)).toEqual(many.slice(0, 2));
    await wait(third.clientId, 2);
    expect(accountsOf(await take(1))).toEqual([third.clientId]);
    expect(accountsOf(await take(2))).toEqual([1, third.clientId]);
    expect(accountsOf(await take(100))).toEqual(Array(17).fill(1));
  });

  it('none is taken before the other task has ended, which its end says', async () => {
    const other = await begun(1);
    const [waiting = ''] = await wait(1, 1, { behind: other });
    const { rows } = await idle.pool.query('select due_at from waiting_deletions');
    expect([rows, await take(1)]).toEqual([[{ due_at: null }], []]);
    await idle.pool.query(
      `insert into waiting_deletions
      (task_id, kind, args, about, thing, client_id, project_id, region_id, behind)
      values ($1, 'delete_fip', '[]', '[]', 'other', 1, 1, 1, gen_random_uuid())`,
      [other],
    );
    await database.transaction((tx) => endWaiting({ clock: systemClock }, tx, other));
    expect((await take(1)).map(({ taskId }) => taskId)).toEqual([waiting]);
  });

  it('one whose task has ended without a word is noticed', async () => {
    const other = await begun(1);
    await wait(1, 1, { behind: other });
    await over(other);
    expect(await take(1)).toEqual([]);
    await store.noticeEnds(database.sql);
    expect(await take(1)).toHaveLength(1);
  });

  it('parts of one load balancer move behind the next task together, without an attempt of each', async () => {
    const [behind, next, balancer] = [randomUUID(), await begun(1), randomUUID()];
    const parts = await wait(1, 3, { behind, balancer });
    const others = await wait(1, 1, { behind });
    const [first] = await take(1);
    if (!first) throw new Error('None was taken');
    await database.transaction(async (tx) =>
      store.waitFor(tx, worker, await store.alike(tx, first, next), { one: first, behind: next }),
    );
    expect(await behindOf(parts)).toEqual([next, next, next]);
    expect(await behindOf(others)).toEqual([behind]);
    expect((await take(5)).map(({ taskId }) => taskId)).toEqual(others);
  });

  it('housekeeping does not wait for rows that are locked', async () => {
    const [locked, dead, ended] = [await wait(1, 1), await wait(1, 1), await wait(1, 1)].flat();
    await take(3);
    await over(locked, ended);
    const client = await idle.pool.connect();
    await client.query('begin');
    await client.query('select from waiting_deletions where task_id = $1 for update', [locked]);
    try {
      const table = { table: 'waiting_deletions', key: 'task_id', count: 'claims' } as const;
      expect(await claimsIn(database.sql, randomUUID(), table).takeFromDead()).toBe(2);
      await store.forgetEnded(database.sql);
      const { rows } = await idle.pool.query('select task_id from waiting_deletions order by task_id');
      expect(rows.map(({ task_id }) => task_id)).toEqual([locked, dead]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});
