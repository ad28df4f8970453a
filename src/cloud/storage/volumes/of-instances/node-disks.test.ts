import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clusterParts, makeCluster, POOL } from '../../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const V = '/cloud/v1/volumes/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

it('the disks of a cluster are found by it, and take no change but those of their pool', async () => {
  const { body } = await clusterParts(service);
  const cluster = await makeCluster(service.http, body({ name: 'disks', pools: [POOL] }));
  const { count, results } = (await service.http.get(`${V}?cluster_id=${cluster.id}`)).body;
  expect(count).toBe(1);
  const [disk] = results;
  for (const answer of [
    await service.http.patch(`${V}/${disk.id}`, { name: 'other' }),
    await service.http.post(`${V}/${disk.id}/metadata`, { a: 'b' }),
    await service.http.post(`${V}/${disk.id}/extend`, { size: 100 }),
    await service.http.post(`${V}/${disk.id}/retype`, { volume_type: 'standard' }),
  ]) {
    expect(answer.status, answer.text).toBe(409);
    expect(answer.body.message).toContain('node of pool web of Kubernetes cluster disks');
  }
  expect((await service.http.get(`${V}/${disk.id}`)).body).toEqual(disk);
});

it.each([randomUUID(), 'demo'])('an unknown cluster %s has none', async (cluster) => {
  expect((await service.http.get(`${V}?cluster_id=${cluster}`)).body).toEqual({ count: 0, results: [] });
});
