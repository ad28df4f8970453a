import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogWithQuotas } from '../../../../../test/support/catalogs.ts';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  GPU_POOL,
  makeCluster,
  POOL,
} from '../../../../../test/support/clusters.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';

const QUOTAS = { vm_count: 4, volume_count: 2, cluster_count: 1, firewall_count: 1 };
const catalog = catalogWithQuotas(QUOTAS);
let service: TestService;
let parts: ClusterParts;
/** A cluster of two virtual nodes and a bare metal one. */
let cluster: { name: string };
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
  parts = await clusterParts(service);
  const pools = [
    { ...POOL, min_node_count: 2 },
    { ...GPU_POOL, min_node_count: 1, max_node_count: 3 },
  ];
  cluster = await makeCluster(service.http, parts.body({ pools }));
});
afterAll(async () => {
  await service?.stop();
  fs.rmSync(catalog, { recursive: true });
});

const CHECK = `${CLUSTERS}/check_limits`;
const CHECK_POOL = `${CLUSTERS}/pools/check_limits`;
const exceeded = (quota: keyof typeof QUOTAS, requested: number, usage: number) => ({
  [`${quota}_limit`]: QUOTAS[quota],
  [`${quota}_requested`]: requested,
  [`${quota}_usage`]: usage,
});

describe('a question about limits', () => {
  test('names what a pool would exceed, with the numbers, and nothing else', async () => {
    const ask = async (body: object) => (await service.http.post(CHECK_POOL, body)).body;
    expect(await ask({ flavor_id: GPU_POOL.flavor_id })).toEqual({});
    expect(await ask({ flavor_id: GPU_POOL.flavor_id, node_count: 2 })).toEqual(exceeded('vm_count', 2, 3));
    expect(await ask({ flavor_id: POOL.flavor_id, name: 'any', max_node_count: 100 })).toEqual(
      exceeded('volume_count', 1, 2),
    );
    expect(await ask({ flavor_id: POOL.flavor_id, min_node_count: 2, boot_volume_size: 50 })).toEqual({
      ...exceeded('vm_count', 2, 3),
      ...exceeded('volume_count', 2, 2),
    });
  });

  test('counts all pools of a cluster, and the cluster', async () => {
    const pools = [
      { flavor_id: POOL.flavor_id, node_count: 1 },
      { flavor_id: GPU_POOL.flavor_id, node_count: 1 },
    ];
    const ofCluster = { ...exceeded('cluster_count', 1, 1), ...exceeded('firewall_count', 1, 1) };
    const answer = await service.http.post(CHECK, { pools, logging: null });
    expect(answer.body).toEqual({
      ...ofCluster,
      ...exceeded('vm_count', 2, 3),
      ...exceeded('volume_count', 1, 2),
    });
    expect((await service.http.post(CHECK.replace('/v1/', '/v2/'), { pools: null })).body).toEqual(ofCluster);
    const { http: other, projectId } = await service.otherTenant();
    const theirs = await other.post(CHECK.replace('/1/1/', `/${projectId}/1/`), { pools });
    expect(theirs.body).toEqual({});
  });

  test('takes nothing', async () => {
    const { rows: before } = await service.pool.query('select * from quota_usage order by attribute');
    await service.http.post(CHECK, { pools: [{ flavor_id: GPU_POOL.flavor_id }] });
    const { rows: after } = await service.pool.query('select * from quota_usage order by attribute');
    expect(after).toEqual(before);
  });

  test.each([
    [CHECK_POOL, { flavor_id: 'nope' }, 'flavor_id'],
    [CHECK, { pools: [{ flavor_id: 'g1-standard-1-2' }] }, 'pools.0.flavor_id'],
    [CHECK_POOL, { flavor_id: POOL.flavor_id, node_count: 201 }, 'node_count'],
  ])('to %s is refused with %j', async (at, body, field) => {
    const answer = await service.http.post(at, body);
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(`"${field}"`);
  });
});

describe('nodes beyond a limit', () => {
  test('are refused, and nothing of them is made', async () => {
    const { http } = service;
    const pools = `${CLUSTERS}/${cluster.name}/pools`;
    const answers = [
      await http.post(`${pools}/gpu/resize`, { node_count: 3 }),
      await http.post(pools, { ...GPU_POOL, name: 'more' }),
      await http.post(pools, { ...POOL, name: 'virtual' }),
      await http.post(CLUSTERS, parts.body({ pools: [POOL] })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(answers.map(({ body }) => body.info.attribute)).toEqual([
      'vm_count',
      'vm_count',
      'volume_count',
      'cluster_count',
    ]);
    const { body } = await http.get(`${CLUSTERS}/${cluster.name}/instances`);
    expect(body.count).toBe(3);
    expect((await http.get(pools)).body.count).toBe(2);
  });

  test('are no obstacle to replacing one', async () => {
    const { http } = service;
    const at = `${CLUSTERS}/${cluster.name}`;
    const [node] = (await http.get(`${at}/pools/web/instances`)).body.results;
    expect(await http.delete(`${at}/instances/${node.id}`)).toMatchObject({ status: 204 });
    const { task_id } = (await http.get(at)).body;
    expect(await http.task(task_id)).toMatchObject({ state: 'FINISHED' });
    const { rows } = await service.pool.query(
      `select attribute, used from quota_usage where client_id = 1 and attribute in ('vm_count', 'volume_count')
       order by attribute`,
    );
    expect(rows).toEqual([
      { attribute: 'vm_count', used: 3 },
      { attribute: 'volume_count', used: 2 },
    ]);
  });
});
