import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  CLUSTERS,
  clusterParts,
  makeCluster,
  POOL,
  pauseClusterWork,
} from '../../../test/support/clusters.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

it('takes a new update, which tidies up, after one that was overdue in the middle of its work', async () => {
  const { http, pool } = service;
  const parts = await clusterParts(service);
  const { name, id } = await makeCluster(http, parts.body({ pools: [POOL] }));
  const goOn = await pauseClusterWork(service);
  const [overdue] = (await http.patch(`${CLUSTERS}/${name}`, { autoscaler_config: { expander: 'random' } }))
    .body;
  await pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [overdue]);
  expect(await http.task(overdue)).toMatchObject({ state: 'ERROR' });
  await goOn();
  // What the task had done when it was cut off.
  await pool.query(
    `update simulated_clusters set phase = 'changing', settings = '{"autoscaler_config": {"expander": "random"}}'
      where cluster_id = $1`,
    [id],
  );

  const [next] = (await http.patch(`${CLUSTERS}/${name}`, { ddos_profile: { enabled: false } })).body;
  expect(await http.task(next)).toMatchObject({ state: 'FINISHED', error: null });
  const { rows } = await pool.query(`select settings from simulated_clusters where cluster_id = $1`, [id]);
  expect(rows[0].settings).toMatchObject({ autoscaler_config: {}, ddos_profile: { enabled: false } });
});
