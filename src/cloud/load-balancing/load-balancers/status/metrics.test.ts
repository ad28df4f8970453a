import fs from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { simulated } from '../../../../../simulation/maker.ts';
import { catalogOfBackends } from '../../../../../test/support/catalogs.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { type Backend, Unavailable } from '../../../../backends/contract/backend.ts';
import type { BackendMaker, Makers } from '../../../../backends/maker.ts';

const measuredBy = (trafficOf?: Backend['trafficOf']): BackendMaker => ({
  ...simulated,
  make(given, host) {
    const { trafficOf: _, ...backend } = simulated.make(given, host);
    return { ...backend, ...(trafficOf && { trafficOf }) };
  },
});
/** Nobody measures region 2, and the meters of region 3 are away. */
const makers: Makers = {
  simulated,
  unmeasured: measuredBy(),
  fickle: measuredBy(async () => Promise.reject(new Unavailable('the meters are away'))),
};
const folder = catalogOfBackends({ 2: 'unmeasured', 3: 'fickle' });

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: folder }, { makers });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Returns the path of the metrics of a load balancer that was made two hours ago. */
async function balancer(region: number): Promise<string> {
  const base = `/cloud/v1/loadbalancers/1/${region}`;
  const answer = await service.http.post(base, { name: 'measured' });
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(answer.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  const id = task.created_resources.loadbalancers[0];
  await service.pool.query(`update load_balancers set created_at = created_at - interval '2 hours' where id = $1`, [
    id,
  ]);
  return `${base}/${id}/metrics`;
}

const HOUR = { time_unit: 'hour', time_interval: 1 };

it('up to sixty points come from the backend, move, and are the same for whoever asks later', async () => {
  const one = await balancer(1);
  const { status, body, text } = await service.http.post(one, HOUR);
  expect(status, text).toBe(200);
  expect([body.count, body.results.length]).toEqual([60, 60]);
  for (const point of body.results) {
    expect(point).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/),
      cpu_util: expect.any(Number),
      memory_util: expect.any(Number),
      network_Bps_ingress: expect.any(Number),
      network_Bps_egress: expect.any(Number),
      network_pps_ingress: expect.any(Number),
      network_pps_egress: expect.any(Number),
    });
  }
  expect(new Set(body.results.map((point: { cpu_util: number }) => point.cpu_util)).size).toBeGreaterThan(30);
  const again = (await service.http.post(one, HOUR)).body.results;
  const former = new Map(body.results.map((point: { time: string }) => [point.time, point]));
  for (const point of again.slice(0, -1)) expect(point).toEqual(former.get(point.time));
  // It is two hours old, so a day has five points of 24 minutes at most.
  const day = (await service.http.post(one, { time_unit: 'day', time_interval: 1 })).body.count;
  expect([4, 5]).toContain(day);
});

it('is 400 where nothing is measured, 503 while the infrastructure is away, and not for others', async () => {
  const unmeasured = await service.http.post(await balancer(2), HOUR);
  expect([unmeasured.status, unmeasured.body.message]).toEqual([400, expect.stringContaining("doesn't measure load")]);
  const away = await service.http.post(await balancer(3), HOUR);
  expect([away.status, away.body.message]).toEqual([503, expect.stringContaining('does not answer')]);
  const other = await service.otherTenant();
  expect((await other.http.post(await balancer(1), HOUR)).status).toBe(404);
});
