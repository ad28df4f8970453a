import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  infrastructureOf,
  makeCluster,
  POOL,
  pauseClusterWork,
  settledInfrastructure,
} from '../../../../test/support/clusters.ts';
import { AGED } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  // Slow enough that a change is still on its way when its task is overdue.
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '20' });
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

const newCluster = () => makeCluster(service.http, parts.body({ pools: [POOL] }));

/** Makes the task overdue and waits for its end. */
async function overdue(taskId: string) {
  await service.pool.query(AGED, [taskId]);
  return service.http.task(taskId);
}

/** During `work`, nothing that the infrastructure begins ever ends. */
async function endless(work: () => Promise<void>) {
  await service.pool.query(`
    create function endless() returns trigger language plpgsql as
      'begin new.takes_ms = 1e9; return new; end';
    create trigger endless before insert or update on simulated_objects for each row execute function endless()`);
  await work();
  await service.pool.query('drop function endless cascade');
}

/** Waits until the infrastructure has begun this revision of the cluster. */
async function begun(cluster: { id: string }, revision: number) {
  await expect.poll(async () => (await infrastructureOf(service, cluster))?.revision).toBe(revision);
}

it('an overdue creation leaves nothing, neither wanted nor in the infrastructure', async () => {
  const { http } = service;
  const body = parts.body({ pools: [POOL] });
  let taskId = '';
  await endless(async () => {
    [taskId] = (await http.post(CLUSTERS, body)).body;
    await begun((await http.get(`${CLUSTERS}/${body.name}`)).body, 1);
  });
  const { body: cluster } = await http.get(`${CLUSTERS}/${body.name}`);

  expect(await overdue(taskId)).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('deadline exceeded'),
  });
  expect((await http.get(`${CLUSTERS}/${body.name}`)).status).toBe(404);
  await expect.poll(() => infrastructureOf(service, cluster)).toBeUndefined();
  const { rows } = await service.pool.query(
    `select id from instances where creator_task_id = $1
     union all select task_id from task_wants where task_id = $1`,
    [taskId],
  );
  expect(rows).toEqual([]);
});

it('an overdue update is taken back, and a new one can follow at once', async () => {
  const { http } = service;
  const cluster = await newCluster();
  const at = `${CLUSTERS}/${cluster.name}`;
  let late = '';
  await endless(async () => {
    [late] = (await http.patch(at, { autoscaler_config: { expander: 'random' } })).body;
    await begun(cluster, 2);
  });
  expect(await overdue(late)).toMatchObject({ state: 'ERROR' });
  expect((await http.get(at)).body).toEqual(cluster);

  const [next] = (await http.patch(at, { ddos_profile: { enabled: false } })).body;
  expect(await http.task(next)).toMatchObject({ state: 'FINISHED', error: null });
  expect((await settledInfrastructure(service, cluster))?.spec?.configuration).toMatchObject({
    autoscaler_config: {},
    ddos_profile: { enabled: false },
  });
});

it('an overdue deletion stays visible and held, and goes on', async () => {
  const { http } = service;
  const cluster = await newCluster();
  const at = `${CLUSTERS}/${cluster.name}`;
  const goOn = await pauseClusterWork(service);
  const [taskId] = (await http.delete(at)).body;
  expect(await overdue(taskId)).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('the removal continues'),
  });
  expect((await http.get(at)).body).toMatchObject({ status: 'Deleting', task_id: taskId });
  expect(await http.patch(at, { ddos_profile: { enabled: false } })).toMatchObject({ status: 409 });
  const [node] = (await http.get('/cloud/v1/instances/1/1')).body.results;
  expect(node).toMatchObject({ task_id: taskId });
  const alone = await http.delete(`/cloud/v1/instances/1/1/${node.id}`);
  expect(alone.status, alone.text).toBe(409);
  const [again] = (await http.delete(at)).body;
  expect(again).not.toBe(taskId);

  await goOn();
  expect(await http.task(again)).toMatchObject({ task_type: 'delete_k8s_cluster_v2', state: 'FINISHED' });
  expect((await http.get(at)).status).toBe(404);
  expect(await infrastructureOf(service, cluster)).toBeUndefined();
  expect(await http.task(taskId)).toMatchObject({ state: 'ERROR' });
});
