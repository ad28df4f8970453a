import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

it('keeps nothing of a machine that is gone, nor of a disk that went with it', async () => {
  const { http, pool } = service;
  const volume = await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'data', size: 1 });
  expect(volume.status, volume.text).toBe(200);
  const [volumeId] = (await http.task(volume.body[0])).created_resources.volumes;
  const instance = await http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [{ source: 'existing-volume', volume_id: volumeId }],
  });
  expect(instance.status, instance.text).toBe(200);
  const [instanceId] = (await http.task(instance.body[0])).created_resources.instances;

  const removal = await http.delete(`/cloud/v1/instances/1/1/${instanceId}?volumes=${volumeId}`);
  expect(removal.status, removal.text).toBe(200);
  expect(await http.task(removal.body[0])).toMatchObject({ state: 'FINISHED' });
  expect((await pool.query('select kind from simulated_resources')).rows).toEqual([]);
});

it('keeps nothing of a volume that is gone, nor of a snapshot that went with it', async () => {
  const { http, pool } = service;
  const volume = await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'data', size: 1 });
  expect(volume.status, volume.text).toBe(200);
  const [volumeId] = (await http.task(volume.body[0])).created_resources.volumes;
  const snapshot = await http.post('/cloud/v1/snapshots/1/1', { volume_id: volumeId, name: 'copy' });
  expect(snapshot.status, snapshot.text).toBe(200);
  const [snapshotId] = (await http.task(snapshot.body[0])).created_resources.snapshots;

  const removal = await http.delete(`/cloud/v1/volumes/1/1/${volumeId}?snapshots=${snapshotId}`);
  expect(removal.status, removal.text).toBe(200);
  expect(await http.task(removal.body[0])).toMatchObject({ state: 'FINISHED' });
  expect((await pool.query('select kind from simulated_resources')).rows).toEqual([]);
});
