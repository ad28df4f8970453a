import { afterAll, beforeAll, expect, it } from 'vitest';
import { alreadyThere, hurry, infrastructure } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const IMAGES = '/cloud/v1/images/1/1';
const VOLUMES = '/cloud/v1/volumes/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service.stop());

async function overrun(taskId: string) {
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [taskId]);
  return service.http.task(taskId);
}

/** Inserts a volume and an image without tasks. */
async function rows() {
  const place = `gen_random_uuid(), 1, 1`;
  const held = `'{}', gen_random_uuid(), null, now(), now()`;
  const volume = await service.pool.query(
    `insert into volumes (id, project_id, region_id, name, size_gib, volume_type, status, bootable,
       tags, creator_task_id, task_id, created_at, updated_at)
     values (${place}, 'disk', 5, 'standard', 'available', true, ${held}) returning id`,
  );
  const image = await service.pool.query(
    `insert into images (id, project_id, region_id, name, status, os_type, architecture, min_disk_gib, size_bytes,
       is_baremetal, ssh_key, hw_firmware_type, hw_machine_type, tags, creator_task_id, task_id, created_at, updated_at)
     values (${place}, 'kept', 'active', 'linux', 'x86_64', 5, 1, false, 'allow', 'bios', 'q35', ${held}) returning id`,
  );
  await service.pool.query(
    `insert into quota_usage values (1, 1, 'image_count', 1)
     on conflict (client_id, region_id, attribute) do update set used = quota_usage.used + 1`,
  );
  const properties = {
    ssh_key: 'allow',
    is_baremetal: 'false',
    hw_firmware_type: 'bios',
    hw_machine_type: 'q35',
  };
  await alreadyThere(service.pool, 'image', image.rows[0].id, {
    name: 'kept',
    volumeId: volume.rows[0].id,
    osType: 'linux',
    architecture: 'x86_64',
    properties,
    metadata: {},
  });
  return { volumeId: volume.rows[0].id as string, imageId: image.rows[0].id as string };
}

it('holds image and volume while the image is made, and leaves nothing when that fails', async () => {
  const { volumeId, imageId } = await rows();
  const answer = await service.http.post(IMAGES, { name: 'never there', volume_id: volumeId });
  const [taskId] = answer.body;
  const { results } = (await service.http.get(`${IMAGES}?name=never`)).body;
  expect(results).toMatchObject([{ status: 'saving', task_id: taskId, size: null }]);
  const url = `${IMAGES}/${results[0].id}`;
  const volume = await service.http.get(`${VOLUMES}/${volumeId}`);
  expect(volume.body).toMatchObject({ status: 'uploading', task_id: taskId });
  for (const refused of [
    await service.http.patch(url, { name: 'other' }),
    await service.http.delete(url),
    await service.http.put(`${url}/metadata`, {}),
    await service.http.delete(`${VOLUMES}/${volumeId}`),
    await service.http.post(IMAGES, { name: 'second', volume_id: volumeId }),
  ]) {
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(taskId);
  }
  const early = await service.http.post(VOLUMES, {
    source: 'image',
    image_id: results[0].id,
    size: 5,
    name: 'early',
  });
  expect(early.status).toBe(409);
  expect(early.body.message).toContain(taskId);
  expect(await overrun(taskId)).toMatchObject({ state: 'ERROR', created_resources: null });
  expect((await service.http.get(url)).status).toBe(404);
  const kept = [`image ${imageId}`];
  const left = async () => {
    await hurry(service.pool);
    return infrastructure(service.pool, 'image');
  };
  await expect.poll(left).toEqual({ wanted: kept, there: kept });
  const { rows: quota } = await service.pool.query(`select used from quota_usage where attribute = 'image_count'`);
  expect(quota).toEqual([{ used: 1 }]);
  expect((await service.http.get(`${VOLUMES}/${volumeId}`)).body).toMatchObject({
    status: 'available',
    task_id: null,
  });
});

it('leaves nothing of an image whose download takes too long', async () => {
  const before = await service.pool.query('select count(*)::int as images from images');
  const quota = () => service.pool.query(`select used from quota_usage where attribute = 'image_count'`);
  const { rows: used } = await quota();
  const body = { name: 'far away', url: 'https://images.example.com/a.qcow2' };
  const { body: tasks } = await service.http.post('/cloud/v1/downloadimage/1/1', body);
  const [image] = (await service.http.get(`${IMAGES}?name=far`)).body.results;
  expect(image).toMatchObject({ status: 'saving', task_id: tasks[0], size: null });
  expect(await overrun(tasks[0])).toMatchObject({ state: 'ERROR', created_resources: null });
  expect((await service.http.get(`${IMAGES}/${image.id}`)).status).toBe(404);
  const after = await service.pool.query('select count(*)::int as images from images');
  expect([after.rows, (await quota()).rows]).toEqual([before.rows, used]);
  const left = async () => {
    await hurry(service.pool);
    return (await infrastructure(service.pool, 'image')).there;
  };
  await expect.poll(left).not.toContain(`image ${image.id}`);
});

it('keeps an image while a volume is made from it', async () => {
  const { imageId } = await rows();
  const copy = { source: 'image', image_id: imageId, size: 5, name: 'copy' };
  const { body: tasks } = await service.http.post(VOLUMES, copy);
  const volume = (await service.http.get(VOLUMES)).body.results[0];
  expect(volume).toMatchObject({ status: 'downloading' });
  const refused = await service.http.delete(`${IMAGES}/${imageId}`);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(volume.id);
  await overrun(tasks[0]);
  expect((await service.http.delete(`${IMAGES}/${imageId}`)).status).toBe(200);
});

it('shows an image whose deletion takes longer than its task, and it goes in the end', async () => {
  const { imageId } = await rows();
  const { body: tasks } = await service.http.delete(`${IMAGES}/${imageId}`);
  const url = `${IMAGES}/${imageId}`;
  expect((await service.http.get(url)).body).toMatchObject({ status: 'pending_delete', task_id: tasks[0] });
  expect(await overrun(tasks[0])).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('the removal continues'),
  });
  expect((await service.http.get(url)).body).toMatchObject({ status: 'pending_delete', task_id: tasks[0] });
  const { body: again } = await service.http.delete(url);
  await hurry(service.pool);
  expect(await service.http.task(again[0])).toMatchObject({ state: 'FINISHED' });
  expect((await service.http.get(url)).status).toBe(404);
  expect((await service.http.task(tasks[0])).state).toBe('ERROR');
});
