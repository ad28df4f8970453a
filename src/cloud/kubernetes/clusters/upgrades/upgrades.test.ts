import { afterAll, beforeAll, expect, test } from 'vitest';
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
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

const newCluster = (overrides: object = {}) => makeCluster(service.http, parts.body({ pools: [POOL], ...overrides }));

test('an upgrade is one task, at whose end the cluster has the version and everything else as before', async () => {
  const { http } = service;
  const before = await newCluster({ autoscaler_config: { 'scan-interval': '20s' } });
  const at = `${CLUSTERS}/${before.name}`;
  const { body: offered } = await http.get(`${at}/upgrade_versions`);
  expect(offered).toEqual({ count: 2, results: [{ version: 'v1.33.7' }, { version: 'v1.33.9' }] });

  const goOn = await pauseClusterWork(service);
  const [taskId] = (await http.post(`${at}/upgrade`, { version: '1.33.9' })).body;
  expect((await http.get(at)).body).toEqual({ ...before, task_id: taskId });
  expect(await http.post(`${at}/upgrade`, { version: 'v1.33.9' })).toMatchObject({ status: 409 });
  await goOn();
  expect(await http.task(taskId)).toMatchObject({
    task_type: 'upgrade_k8s_cluster_v2',
    state: 'FINISHED',
    error: null,
    created_resources: null,
  });
  expect((await http.get(at)).body).toEqual({ ...before, version: 'v1.33.9' });
  expect(await settledInfrastructure(service, before)).toMatchObject({
    revision: 2,
    spec: { version: 'v1.33.9' },
  });
});

test.each([
  ['down', 'v1.31.14'],
  ['to what it has', 'v1.32.13'],
  ['two minors up', 'v1.34.4'],
  ['to an unknown version', 'v1.33.99'],
  ['to no version', 'latest'],
])('an upgrade %s is refused', async (_, version) => {
  const cluster = await sharedCluster();
  const answer = await service.http.post(`${CLUSTERS}/${cluster.name}/upgrade`, { version });
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.text).toContain('"version"');
});

test('while Slurm is enabled, an upgrade goes only to what Slurm runs on', async () => {
  const { http } = service;
  const slurm = {
    enabled: true,
    file_share_id: parts.shareId,
    ssh_key_ids: [parts.keyId],
    worker_count: 1,
  };
  const { name } = await makeCluster(
    http,
    parts.body({ version: 'v1.31.14', pools: [POOL, GPU_POOL], add_ons: { slurm } }),
  );
  const at = `${CLUSTERS}/${name}`;
  const [next] = (await http.get(`${at}/upgrade_versions`)).body.results;
  expect(next.version).toMatch(/^v1\.32\./);
  const tooFar = await http.post(`${at}/upgrade`, { version: 'v1.34.4' });
  expect(tooFar.body.invalid_fields.version).toEqual([
    `The cluster can't be upgraded from v1.31.14 to v1.34.4: must be one of: ${await offeredTo(name)}.`,
  ]);
  const [taskId] = (await http.post(`${at}/upgrade`, { version: 'v1.32.13' })).body;
  expect(await http.task(taskId)).toMatchObject({ state: 'FINISHED', error: null });
  expect((await http.get(`${at}/upgrade_versions`)).body).toEqual({ count: 0, results: [] });
  const nowhere = await http.post(`${at}/upgrade`, { version: 'v1.34.4' });
  expect(nowhere.body.invalid_fields.version).toEqual([
    "The cluster can't be upgraded from v1.32.13 to v1.34.4: no upgrade is available.",
  ]);
  const refused = await http.post(`${at}/upgrade`, { version: 'v1.33.9' });
  expect(refused).toMatchObject({ status: 409 });
  expect(refused.text).toContain('Slurm');
});

test('the newest version goes nowhere', async () => {
  const cluster = await newCluster({ version: 'v1.35.3' });
  const at = `${CLUSTERS}/${cluster.name}`.replace('/v1/', '/v2/');
  expect((await service.http.get(`${at}/upgrade_versions`)).body).toEqual({ count: 0, results: [] });
  expect(await service.http.post(`${at}/upgrade`, { version: 'v1.35.3' })).toMatchObject({ status: 400 });
});

test('an upgrade that is cut off can be asked for again', async () => {
  const { http, pool } = service;
  const { name } = await newCluster();
  const goOn = await pauseClusterWork(service);
  const [taskId] = (await http.post(`${CLUSTERS}/${name}/upgrade`, { version: 'v1.33.9' })).body;
  await pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [taskId]);
  expect(await http.task(taskId)).toMatchObject({ state: 'ERROR' });
  await goOn();
  expect((await http.get(`${CLUSTERS}/${name}`)).body).toMatchObject({ version: 'v1.32.13', task_id: null });
  const [again] = (await http.post(`${CLUSTERS}/${name}/upgrade`, { version: 'v1.33.9' })).body;
  expect(await http.task(again)).toMatchObject({ state: 'FINISHED', error: null });
  expect((await http.get(`${CLUSTERS}/${name}`)).body).toMatchObject({ version: 'v1.33.9' });
});

test("a foreign cluster and one that isn't there are not found", async () => {
  const { name } = await sharedCluster();
  const { http: other } = await service.otherTenant();
  const answers = [
    await other.get(`${CLUSTERS}/${name}/upgrade_versions`),
    await other.post(`${CLUSTERS}/${name}/upgrade`, { version: 'v1.33.9' }),
    await service.http.get(`${CLUSTERS}/nope/upgrade_versions`),
    await service.http.post(`${CLUSTERS}/nope/upgrade`, { version: 'v1.33.9' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
});

async function offeredTo(name: string): Promise<string> {
  const { results } = (await service.http.get(`${CLUSTERS}/${name}/upgrade_versions`)).body;
  return results.map(({ version }: { version: string }) => version).join(', ');
}

let shared: Promise<{ name: string }> | undefined;
function sharedCluster(): Promise<{ name: string }> {
  shared ??= newCluster();
  return shared;
}
