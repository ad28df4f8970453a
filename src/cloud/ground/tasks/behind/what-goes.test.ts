import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, makeCluster, POOL } from '../../../../../test/support/clusters.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';

/* What deletions delete that have waited: all that was asked for and still exists, and nothing else. */

const FAULTS = '/tradewind/v1/test/faults';
const TYPO = '00000000-0000-4000-8000-000000000000';
const IMAGE = { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 };
const at = (family: string, id = '', version = 'v1') => `/cloud/${version}/${family}/1/1${id && `/${id}`}`;

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
  await service.http.post('/cloud/v1/ssh_keys/1', { name: 'key' });
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

/** Accepts a request that starts one task. */
async function accepted(sent: Promise<Awaited<ReturnType<typeof service.http.post>>>): Promise<string> {
  const answer = await sent;
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.tasks ?? answer.body).toHaveLength(1);
  return (answer.body.tasks ?? answer.body)[0];
}

const remove = (path: string) => accepted(service.http.delete(path));

/** Holds all tasks of the type until the test lets them go on. */
async function hold(type: string): Promise<() => Promise<void>> {
  const rule = await service.http.post(FAULTS, { task: type, do: { hold: true } });
  expect(rule.status, rule.text).toBe(201);
  return async () => void (await service.http.delete(FAULTS));
}

async function ends(ids: string[]): Promise<string[]> {
  const ended = await Promise.all(ids.map((id) => service.http.task(id)));
  return ended.map(({ state, error }) => (state === 'FINISHED' ? state : error));
}

const status = async (path: string) => (await service.http.get(path)).status;
const cancel = (task: string) => service.http.post(`/tradewind/v1/tasks/${task}/cancel`);
const volume = () => make(at('volumes'), { source: 'new-volume', name: unique('data'), size: 1 });

/** An instance with two volumes and a reserved address in a subnet with a router. */
async function instance() {
  const networkId = await make(at('networks'), { name: unique('net'), create_router: true });
  const subnet = { name: unique('sub'), network_id: networkId, cidr: '10.3.0.0/24' };
  const subnetId = await make(at('subnets'), subnet);
  const port = await make(at('reserved_fixed_ips'), { type: 'subnet', subnet_id: subnetId });
  const [named, other] = [await volume(), await volume()];
  const id = await make(at('instances', '', 'v2'), {
    name: unique('web'),
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'reserved_fixed_ip', port_id: port }],
    volumes: [IMAGE, ...[named, other].map((one) => ({ source: 'existing-volume', volume_id: one }))],
  });
  return { id, path: at('instances', id), port, named, other, networkId };
}

const detach = (id: string, instanceId: string) =>
  accepted(service.http.post(`${at('volumes', id, 'v2')}/detach`, { instance_id: instanceId }));

describe('what the deletion of an instance names', () => {
  it('is checked before it waits', async () => {
    const { id, path, other } = await instance();
    const goOn = await hold('detach_volume');
    const first = await detach(other, id);
    for (const field of ['volumes', 'floatings', 'reserved_fixed_ips']) {
      const refused = await service.http.delete(`${path}?${field}=${TYPO}`);
      expect(refused.status, refused.text).toBe(400);
      expect(refused.body.invalid_fields[field]?.[0]).toContain(TYPO);
    }
    const both = await service.http.delete(`${path}?floatings=${TYPO}&delete_floatings=true`);
    expect(both.status).toBe(400);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    expect(await status(path)).toBe(200);
  });

  it('is refused while it is being detached', async () => {
    const { id, path, named } = await instance();
    const goOn = await hold('detach_volume');
    const first = await detach(named, id);
    const refused = await service.http.delete(`${path}?volumes=${named}`);
    expect(refused.status, refused.text).toBe(409);
    expect(refused.body.message).toContain(`Volume ${named} is being detached by task ${first}`);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    expect(await ends([await remove(path), await remove(at('volumes', named))])).toEqual(Array(2).fill('FINISHED'));
  });

  it('is not silently kept if it has left meanwhile', async () => {
    const { id, path, named, other } = await instance();
    const goOn = await hold('detach_volume');
    const first = await detach(other, id);
    const waiting = await remove(`${path}?volumes=${named}`);
    const second = await detach(named, id);
    await goOn();
    expect(await ends([first, second, waiting])).toEqual([
      'FINISHED',
      'FINISHED',
      expect.stringMatching(`Volume ${named} .*delete .*by itself`),
    ]);
    expect(await status(path)).toBe(200);
    const again = await service.http.delete(`${path}?volumes=${named}`);
    expect(again.status, again.text).toBe(400);
  });

  it('may be gone by then', async () => {
    const { path, port, named } = await instance();
    const floating = await make(at('floatingips'), { port_id: port });
    const goOn = await hold('delete_fip');
    const all = [
      await remove(at('floatingips', floating)),
      await remove(`${path}?floatings=${floating}&volumes=${named}&reserved_fixed_ips=${port}`),
    ];
    await goOn();
    expect(await ends(all)).toEqual(['FINISHED', 'FINISHED']);
    for (const gone of [path, at('volumes', named), at('reserved_fixed_ips', port)]) {
      expect(await status(gone), gone).toBe(404);
    }
  });
});

describe('the deletion of a pool', () => {
  const cluster = async (...pools: string[]) => {
    const name = unique('cluster');
    const wish = { name, version: 'v1.32.13', keypair: 'key' };
    await makeCluster(service.http, { ...wish, pools: pools.map((pool) => ({ ...POOL, name: pool })) });
    return `${CLUSTERS}/${name}`;
  };
  const diskOf = async (path: string, pool: string): Promise<string> => {
    const { rows } = await service.pool.query(
      `select volume_id from volume_attachments as attachment join instances on instances.id = attachment.instance_id
        join kubernetes_pools as pool on pool.id = pool_id join kubernetes_clusters as cluster on cluster.id = cluster_id
        where cluster.name = $1 and pool.name = $2`,
      [path.split('/').at(-1), pool],
    );
    return rows[0].volume_id;
  };

  it('does not become that of the cluster', async () => {
    const path = await cluster('web', 'api', 'jobs');
    const goOn = await hold('delete_k8s_cluster_pool_v2');
    const first = await remove(`${path}/pools/web`);
    const waiting = [await remove(`${path}/pools/api`), await remove(`${path}/pools/jobs`)];
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    expect((await ends(waiting)).sort()).toEqual(['FINISHED', expect.stringMatching(/^Pool \w+ is the last/)]);
    const { body } = await service.http.get(path);
    expect(body).toMatchObject({ status: 'Provisioned', pools: [expect.anything()] });
  });

  it('does not wait if all the others are on their way out', async () => {
    const path = await cluster('web', 'api');
    const goOn = await hold('delete_k8s_cluster_pool_v2');
    const first = await remove(`${path}/pools/web`);
    const refused = await service.http.delete(`${path}/pools/api`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('delete the cluster')]);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    expect(await status(path)).toBe(200);
    expect(await ends([await remove(`${path}/pools/api`)])).toEqual(['FINISHED']);
    expect(await status(path)).toBe(404);
  });

  it('may take a disk that the deletion of the cluster names', async () => {
    const path = await cluster('web', 'api');
    const disks = [await diskOf(path, 'web'), await diskOf(path, 'api')];
    const goOn = await hold('delete_k8s_cluster_pool_v2');
    const first = await remove(`${path}/pools/api`);
    const typo = await service.http.delete(`${path}?volumes=${TYPO}`);
    expect([typo.status, typo.text]).toEqual([400, expect.stringContaining(TYPO)]);
    const waiting = await remove(`${path}?volumes=${disks.join(',')}`);
    await goOn();
    expect(await ends([first, waiting])).toEqual(['FINISHED', 'FINISHED']);
    expect(await status(path)).toBe(404);
    for (const disk of disks) expect(await status(at('volumes', disk))).toBe(404);
  });

  it('lets that of the cluster wait, and then the cluster gets no other pool', async () => {
    const path = await cluster('web', 'api');
    const goOn = await hold('delete_k8s_cluster_pool_v2');
    const first = await remove(`${path}/pools/api`);
    const waiting = await remove(path);
    await service.pool.query(`update waiting_deletions set due_at = now() + interval '1 hour'`);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    const refused = await service.http.post(`${path}/pools`, { ...POOL, name: 'more' });
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(waiting)]);
    await service.pool.query('update waiting_deletions set due_at = now()');
    expect(await ends([waiting])).toEqual(['FINISHED']);
  });
});

describe('while a deletion waits, nothing joins', () => {
  const refusing = async (sent: ReturnType<typeof service.http.post>, waiting: string) => {
    const refused = await sent;
    expect([refused.status, refused.body.message], refused.text).toEqual([
      409,
      expect.stringContaining(`will be deleted by task ${waiting}`),
    ]);
  };

  it('the network that goes with its subnets', async () => {
    const { path, networkId, port } = await instance();
    const goOn = await hold('delete_vm');
    const first = await remove(`${path}?reserved_fixed_ips=${port}`);
    const waiting = await remove(at('networks', networkId));
    const subnet = { name: unique('late'), network_id: networkId, cidr: '10.4.0.0/24' };
    await refusing(service.http.post(at('subnets'), subnet), waiting);
    expect((await cancel(waiting)).status).toBe(200);
    const subnetId = await make(at('subnets'), subnet);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    expect(await status(at('subnets', subnetId))).toBe(200);
  });

  it('the load balancer that goes with its parts', async () => {
    const balancer = await make(at('loadbalancers'), { name: unique('lb'), flavor: 'lb1-1-2' });
    const parts = { protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', load_balancer_id: balancer };
    const pool = await make(at('lbpools'), { ...parts, name: 'first' });
    const goOn = await hold('delete_lbpool');
    const first = await remove(at('lbpools', pool));
    const waiting = await remove(at('loadbalancers', balancer));
    await service.pool.query(`update waiting_deletions set due_at = now() + interval '1 hour'`);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    await refusing(service.http.post(at('lbpools'), { ...parts, name: 'second' }), waiting);
    await service.pool.query('update waiting_deletions set due_at = now()');
    expect(await ends([waiting])).toEqual(['FINISHED']);
  });

  it('the placement group that lets its instances go', async () => {
    const group = await make(at('servergroups'), { name: unique('together'), policy: 'anti-affinity' });
    const machine = {
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'external' }],
      volumes: [IMAGE],
    };
    const member = { ...machine, servergroup_id: group };
    const id = await make(at('instances', '', 'v2'), { ...member, name: unique('web') });
    const late = await make(at('instances', '', 'v2'), { ...machine, name: unique('web') });
    const goOn = await hold('delete_vm');
    const first = await remove(at('instances', id));
    const waiting = await remove(at('servergroups', group));
    const joining = { servergroup_id: group };
    await refusing(service.http.post(`${at('instances', late)}/put_into_servergroup`, joining), waiting);
    const another = { ...member, name: unique('web') };
    await refusing(service.http.post(at('instances', '', 'v2'), another), waiting);
    await goOn();
    expect(await ends([first, waiting])).toEqual(['FINISHED', 'FINISHED']);
  });

  it('the instance that goes with its floating IPs', async () => {
    const { id, path, port, other } = await instance();
    const floating = await make(at('floatingips'), {});
    const goOn = await hold('detach_volume');
    const first = await detach(other, id);
    const waiting = await remove(`${path}?delete_floatings=true`);
    await refusing(service.http.post(`${at('floatingips', floating)}/assign`, { port_id: port }), waiting);
    await refusing(service.http.patch(at('floatingips', floating, 'v2'), { port_id: port }), waiting);
    await refusing(service.http.post(at('floatingips'), { port_id: port }), waiting);
    await service.pool.query(`update waiting_deletions set due_at = now() + interval '1 hour'`);
    await goOn();
    expect(await ends([first])).toEqual(['FINISHED']);
    // A port might have an address that nobody named.
    await refusing(service.http.post(`${path}/attach_interface`, { type: 'external' }), waiting);
    await service.pool.query('update waiting_deletions set due_at = now()');
    expect(await ends([waiting])).toEqual(['FINISHED']);
    expect(await status(at('floatingips', floating))).toBe(200);
  });
});
