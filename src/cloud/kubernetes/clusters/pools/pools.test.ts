import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  GPU_POOL,
  makeCluster,
  POOL,
  pauseClusterWork,
  settledInfrastructure,
} from '../../../../../test/support/clusters.ts';
import { AGED } from '../../../../../test/support/infrastructure.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

const UNKNOWN = '11111111-2222-4333-8444-555555555555';
const NEW = { ...POOL, name: 'api', min_node_count: 2, labels: { tier: 'api' } };
const newCluster = (overrides: object = { pools: [POOL] }) => makeCluster(service.http, parts.body(overrides));
const poolsOf = ({ name }: { name: string }) => `${CLUSTERS}/${name}/pools`;

async function finished(answer: { status: number; text: string; body: string[] }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(answer.body[0] ?? '');
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}

const infrastructure = (cluster: { id: string }) => settledInfrastructure(service, cluster);

/** Makes the task overdue before it did anything, then lets it continue. */
async function overdue(taskId: string, goOn: () => Promise<void>) {
  await service.pool.query(AGED, [taskId]);
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR' });
  await goOn();
}

describe('a new pool', () => {
  test('is there as Provisioning, then Running, and holds the cluster meanwhile', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const goOn = await pauseClusterWork(service);
    const answer = await http.post(poolsOf(cluster), NEW);
    expect((await http.get(`${poolsOf(cluster)}/api`)).body).toMatchObject({ status: 'Provisioning' });
    const held = (await http.get(`${CLUSTERS}/${cluster.name}`)).body;
    expect(held).toMatchObject({ status: 'Provisioned', task_id: answer.body[0] });
    const refused = [
      await http.post(poolsOf(cluster), { ...NEW, name: 'more' }),
      await http.patch(`${poolsOf(cluster)}/web`, { max_node_count: 5 }),
      await http.post(`${poolsOf(cluster)}/web/resize`, { node_count: 2 }),
      await http.delete(`${poolsOf(cluster)}/web`),
      await http.patch(`${CLUSTERS}/${cluster.name}`, { autoscaler_config: { expander: 'random' } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409]);
    await goOn();

    const task = await finished(answer);
    const { body: pool } = await http.get(`${poolsOf(cluster)}/api`);
    expect(task).toMatchObject({
      task_type: 'create_k8s_cluster_pool_v2',
      created_resources: { k8s_pools: [pool.id] },
    });
    expect(pool).toMatchObject({ ...NEW, node_count: 2, status: 'Running' });
    const { body: after } = await http.get(`${CLUSTERS}/${cluster.name}`);
    expect(after).toMatchObject({ task_id: null, pools: [{ name: 'web' }, { name: 'api' }] });
    expect(await infrastructure(cluster)).toMatchObject({ nodes: { web: 1, api: 2 } });
  });

  test('leaves nothing behind when its task fails', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const goOn = await pauseClusterWork(service);
    const answer = await http.post(poolsOf(cluster), NEW);
    await overdue(answer.body[0], goOn);
    expect((await http.get(`${poolsOf(cluster)}/api`)).status).toBe(404);
    expect((await infrastructure(cluster))?.nodes).toEqual({ web: 1 });
    await finished(await http.post(`${poolsOf(cluster)}/web/resize`, { node_count: 3 }));
    expect((await infrastructure(cluster))?.nodes).toEqual({ web: 3 });
  });

  test.each([
    ['an unknown flavor', { flavor_id: 'nope' }, 'flavor_id'],
    ['fewer at most than at least', { min_node_count: 3, max_node_count: 2 }, 'max_node_count'],
    ['a bad label', { labels: { '-x': 'y' } }, 'labels.-x'],
    ['an unknown security group', { security_group_ids: [UNKNOWN] }, 'security_group_ids.0'],
  ])('is refused with %s', async (_, wrong, field) => {
    const cluster = await sharedCluster();
    const answer = await service.http.post(poolsOf(cluster), { ...NEW, ...wrong });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(`"${field}"`);
  });

  test('needs a name of its own', async () => {
    const cluster = await sharedCluster();
    expect(await service.http.post(poolsOf(cluster), POOL)).toMatchObject({ status: 409 });
  });

  test('is made once when two want it at the same time', async () => {
    const cluster = await newCluster();
    const answers = await Promise.all([1, 2].map(() => service.http.post(poolsOf(cluster), NEW)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });
});

describe('an update', () => {
  test('replaces what it gives at once, and keeps what is null or absent', async () => {
    const { http } = service;
    const group = (await http.post('/cloud/v1/securitygroups/1/1', { security_group: { name: 'of pool' } })).body.id;
    const cluster = await newCluster({
      pools: [{ ...POOL, labels: { tier: 'web' }, taints: { a: 'b:NoExecute' }, security_group_ids: [group] }],
    });
    const at = `${poolsOf(cluster)}/web`;
    const [before] = cluster.pools;
    const answer = await http.patch(at, {
      max_node_count: 5,
      labels: { zone: 'one' },
      taints: null,
      node_count: before.node_count,
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ ...before, max_node_count: 5, labels: { zone: 'one' } });
    expect((await http.get(at)).body).toEqual(answer.body);
    expect((await http.patch(at, { security_group_ids: [], labels: {} })).body).toEqual({
      ...answer.body,
      security_group_ids: [],
      labels: {},
    });
    expect((await http.patch(at, {})).body).toMatchObject({ max_node_count: 5, labels: {} });
  });

  test('reaches the infrastructure, and the newest of several stays there', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const settings = async () => (await infrastructure(cluster))?.spec?.pools.web;
    expect(await settings()).toMatchObject({ autoHealing: false, labels: {} });
    const goOn = await pauseClusterWork(service);
    const at = `${poolsOf(cluster)}/web`;
    await http.patch(at, { auto_healing_enabled: true, labels: { tier: 'one' } });
    await http.patch(at, { labels: { tier: 'two' }, taints: { a: 'b:NoExecute' }, max_node_count: 7 });
    await http.patch(at, { max_node_count: 7 });
    expect((await http.get(`${CLUSTERS}/${cluster.name}`)).body.task_id).toBeNull();
    await goOn();
    const { rows: tasks } = await service.pool.query(
      `select id from tasks where task_type = 'update_k8s_cluster_pool_v2' and data ->> 'cluster_name' = $1`,
      [cluster.name],
    );
    expect(tasks).toHaveLength(2);
    for (const { id } of tasks) expect(await http.task(id)).toMatchObject({ state: 'FINISHED', error: null });
    expect(await settings()).toMatchObject({
      autoHealing: true,
      labels: { tier: 'two' },
      taints: { a: 'b:NoExecute' },
      maxNodes: 7,
    });
  });

  test('reaches the infrastructure although its own task is overdue', async () => {
    const { http, pool } = service;
    const cluster = await newCluster();
    const goOn = await pauseClusterWork(service);
    await http.patch(`${poolsOf(cluster)}/web`, { labels: { tier: 'late' } });
    const { rows: tasks } = await pool.query(
      `select id from tasks where task_type = 'update_k8s_cluster_pool_v2' and data ->> 'cluster_name' = $1`,
      [cluster.name],
    );
    await overdue(tasks[0].id, goOn);
    expect((await infrastructure(cluster))?.spec?.pools.web).toMatchObject({ labels: { tier: 'late' } });
    await finished(await http.patch(`${CLUSTERS}/${cluster.name}`, { ddos_profile: { enabled: false } }));
    expect((await infrastructure(cluster))?.spec?.pools.web).toMatchObject({ labels: { tier: 'late' } });
  });

  test.each([
    ['a minimum above the maximum that stands', { min_node_count: 4 }, 'min_node_count'],
    ['another number of nodes', { node_count: 2 }, 'node_count'],
    ['a taint without an effect', { taints: { a: 'b' } }, 'taints.a'],
    ['a label of the machine', { labels: { 'kubernetes.io/os': 'beos' } }, 'labels.kubernetes.io/os'],
    ['a bad setting of the kubelet', { kubelet_config: { maxPods: 'many' } }, 'kubelet_config.maxPods'],
    ['an unknown setting of CRI-O', { crio_config: { root: '/' } }, 'crio_config.root'],
    ['what only a creation takes', { flavor_id: 'g1-standard-2-4' }, 'flavor_id'],
  ])('is refused with %s', async (_, wrong, field) => {
    const cluster = await sharedCluster();
    const answer = await service.http.patch(`${poolsOf(cluster)}/web`, wrong);
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(field);
  });
});

describe('a resize', () => {
  test('changes the number of nodes with one task', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const task = await finished(await http.post(`${poolsOf(cluster)}/web/resize`, { node_count: 3 }));
    expect(task).toMatchObject({ task_type: 'resize_k8s_cluster_v2', created_resources: null });
    expect((await http.get(`${poolsOf(cluster)}/web`)).body).toMatchObject({ node_count: 3 });
    expect(await infrastructure(cluster)).toMatchObject({ nodes: { web: 3 } });
  });

  test.each([0, 4, 201])('to %i nodes is refused, outside the limits', async (node_count) => {
    const cluster = await sharedCluster();
    const answer = await service.http.post(`${poolsOf(cluster)}/web/resize`, { node_count });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain('node_count');
  });
});

describe('a deletion', () => {
  test('takes the pool away with one task', async () => {
    const { http } = service;
    const cluster = await newCluster({ pools: [POOL, GPU_POOL] });
    const goOn = await pauseClusterWork(service);
    const answer = await http.delete(`${poolsOf(cluster)}/gpu`);
    expect((await http.get(`${poolsOf(cluster)}/gpu`)).body).toMatchObject({ status: 'Deleting' });
    await goOn();
    expect(await finished(answer)).toMatchObject({ task_type: 'delete_k8s_cluster_pool_v2' });
    expect((await http.get(poolsOf(cluster))).body).toMatchObject({ count: 1, results: [{ name: 'web' }] });
    expect(await infrastructure(cluster)).toMatchObject({ nodes: { web: 1 } });
  });

  test('goes on when its task is overdue, and holds the cluster until the pool is gone', async () => {
    const { http } = service;
    const cluster = await newCluster({ pools: [POOL, GPU_POOL] });
    const goOn = await pauseClusterWork(service);
    const answer = await http.delete(`${poolsOf(cluster)}/gpu`);
    let again: typeof answer | undefined;
    await overdue(answer.body[0], async () => {
      expect((await http.get(`${poolsOf(cluster)}/gpu`)).body).toMatchObject({ status: 'Deleting' });
      expect((await http.get(`${CLUSTERS}/${cluster.name}`)).body).toMatchObject({ task_id: answer.body[0] });
      const others = [
        await http.post(poolsOf(cluster), NEW),
        await http.patch(`${poolsOf(cluster)}/web`, { max_node_count: 5 }),
      ];
      expect(others.map(({ status }) => status)).toEqual([409, 409]);
      again = await http.delete(`${poolsOf(cluster)}/gpu`);
      await goOn();
    });
    await finished(again ?? answer);
    expect(await infrastructure(cluster)).toMatchObject({ nodes: { web: 1 } });
    expect((await http.get(`${poolsOf(cluster)}/gpu`)).status).toBe(404);
    expect((await http.get(`${CLUSTERS}/${cluster.name}`)).body).toMatchObject({ task_id: null });
    expect(await http.task(answer.body[0])).toMatchObject({
      state: 'ERROR',
      error: expect.stringContaining('the removal continues'),
    });
  });

  test('of the last pool takes the cluster with it', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const goOn = await pauseClusterWork(service);
    const answer = await http.delete(`${poolsOf(cluster)}/web`);
    expect((await http.get(`${CLUSTERS}/${cluster.name}`)).body).toMatchObject({ status: 'Deleting' });
    await goOn();
    expect((await finished(answer)).data).toMatchObject({ pool_name: 'web', cluster_deleted: true });
    expect((await http.get(`${CLUSTERS}/${cluster.name}`)).status).toBe(404);
    expect(await infrastructure(cluster)).toBeUndefined();
  });

  test('of the last GPU pool is refused while Slurm is on', async () => {
    const { http } = service;
    const slurm = {
      enabled: true,
      file_share_id: parts.shareId,
      ssh_key_ids: [parts.keyId],
      worker_count: 1,
    };
    const cluster = await newCluster({ add_ons: { slurm } });
    const answer = await http.delete(`${poolsOf(cluster)}/gpu`);
    expect(answer).toMatchObject({ status: 409 });
    expect(answer.text).toContain('Slurm');
  });
});

test('what is unknown or foreign is not found', async () => {
  const { http } = service;
  const cluster = await sharedCluster();
  const { http: other } = await service.otherTenant();
  const unknown = [
    await http.post(poolsOf({ name: 'nope' }), NEW),
    await http.patch(`${poolsOf(cluster)}/nope`, {}),
    await http.post(`${poolsOf(cluster)}/nope/resize`, { node_count: 1 }),
    await http.delete(`${poolsOf(cluster)}/nope`),
    await other.post(poolsOf(cluster), NEW),
    await other.delete(`${poolsOf(cluster)}/web`),
  ];
  expect(unknown.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
});

test('the second version of the address does the same', async () => {
  const cluster = await newCluster();
  const at = `${poolsOf(cluster)}/web/resize`.replace('/v1/', '/v2/');
  await finished(await service.http.post(at, { node_count: 2 }));
});

let shared: Promise<{ name: string }> | undefined;
function sharedCluster(): Promise<{ name: string }> {
  shared ??= newCluster();
  return shared;
}
