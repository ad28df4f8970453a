import { afterAll, beforeAll, expect, it } from 'vitest';
import { hurried, specOf } from '../../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';

const V = '/cloud/v1/volumes/1/1';
const S = '/cloud/v1/snapshots/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service.stop());

const ended = (taskId: string) => hurried(service.pool, service.http.task(taskId));

async function made(url: string, body: object): Promise<string> {
  const { created_resources } = await ended((await service.http.post(url, body)).body[0]);
  return created_resources[url === V ? 'volumes' : 'snapshots'][0];
}

it('keeps a snapshot, and the volume that it is of, until the volumes made from it are there', async () => {
  const source = await made(V, { source: 'new-volume', name: 'source', size: 5 });
  const snapshot = await made(S, { volume_id: source, name: 'before' });
  const started = await service.http.post(V, {
    source: 'snapshot',
    snapshot_id: snapshot,
    name: 'copy',
  });
  expect(started.status, started.text).toBe(200);
  const { results } = (await service.http.get(V)).body;
  const copy = results.find(({ name }: { name: string }) => name === 'copy').id;

  for (const url of [`${S}/${snapshot}`, `${V}/${source}?snapshots=${snapshot}`]) {
    const refused = await service.http.delete(url);
    expect(refused.status, url).toBe(409);
    expect(refused.body.message).toBe(
      `Snapshot ${snapshot} is being copied to volumes; wait until they are ready: ${copy}`,
    );
  }
  expect(await ended(started.body[0])).toMatchObject({ state: 'FINISHED' });
  expect((await specOf(service.pool, 'volume', copy)).there).toMatchObject({
    source: { snapshotId: snapshot },
  });

  const removal = await service.http.delete(`${V}/${source}?snapshots=${snapshot}`);
  expect(removal.status, removal.text).toBe(200);
  expect(await ended(removal.body[0])).toMatchObject({ state: 'FINISHED' });
  expect((await service.http.get(`${V}/${copy}`)).body).toMatchObject({ status: 'available' });
});
