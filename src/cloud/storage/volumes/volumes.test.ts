import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const V = '/cloud/v1/volumes/1/1';
const S = '/cloud/v1/snapshots/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

/** Waits for the one task that the answer names. */
async function done(answer: { status: number; body: unknown; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const [taskId] = answer.body as string[];
  const task = await service.http.task(String(taskId));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

async function newVolume(body: object = { source: 'new-volume', size: 10 }): Promise<string> {
  const task = await done(await service.http.post(V, { name: 'data', ...body }));
  return task.created_resources.volumes[0];
}

async function newSnapshot(volumeId: string): Promise<string> {
  const task = await done(await service.http.post(S, { volume_id: volumeId, name: 'before' }));
  return task.created_resources.snapshots[0];
}

describe('volumes', () => {
  it('makes an empty one, which is there from acceptance on', async () => {
    const accepted = await service.http.post(V, {
      source: 'new-volume',
      name: 'data',
      size: 100,
      type_name: 'ssd_hiiops',
      tags: { env: 'test' },
    });
    const [taskId] = accepted.body;
    const listed = await service.http.get(`${V}?tag_key=env`);
    const [volume] = listed.body.results;
    expect(volume).toMatchObject({ size: 100, volume_type: 'ssd_hiiops', creator_task_id: taskId });
    const task = await service.http.task(taskId);
    expect(task).toMatchObject({
      state: 'FINISHED',
      task_type: 'create_volume',
      created_resources: { volumes: [volume.id] },
    });
    const read = await service.http.get(`${V}/${volume.id}`);
    expect(read.body).toMatchObject({
      name: 'data',
      status: 'available',
      bootable: false,
      is_root_volume: false,
      attachments: [],
      snapshot_ids: [],
      limiter_stats: { iops_base_limit: 6000, MBps_base_limit: 250 },
      tags: [{ key: 'env', value: 'test', read_only: false }],
      task_id: null,
      region_id: 1,
      project_id: 1,
    });
  });

  it('makes one from an image, and refuses one too small for it', async () => {
    const image_id = 'd30931af-8845-4913-a690-021a990a917f';
    const small = await service.http.post(V, { source: 'image', name: 'boot', image_id, size: 5 });
    expect(small.status).toBe(400);
    expect(small.body.invalid_fields).toEqual({ size: ['Image ubuntu-24.04-x64 requires at least 10 GiB.'] });
    const id = await newVolume({ source: 'image', image_id, size: 20 });
    const { body } = await service.http.get(`${V}/${id}`);
    expect(body).toMatchObject({ bootable: true, volume_image_metadata: { os_distro: 'ubuntu' } });
  });

  it('makes one from a snapshot, with its size and type', async () => {
    const source = await newVolume({ source: 'new-volume', size: 12, type_name: 'ssd_hiiops' });
    const snapshot_id = await newSnapshot(source);
    const other = await service.http.post(V, { source: 'snapshot', name: 'copy', snapshot_id, size: 13 });
    expect(other.body.invalid_fields).toHaveProperty('size');
    const id = await newVolume({ source: 'snapshot', snapshot_id });
    const { body } = await service.http.get(`${V}/${id}`);
    expect(body).toMatchObject({ size: 12, volume_type: 'ssd_hiiops' });
    const price = await service.http.post('/cloud/v1/pricing/1/1/volumes', {
      source: 'snapshot',
      snapshot_id,
    });
    const same = await service.http.post('/cloud/v1/pricing/1/1/volumes', {
      source: 'new-volume',
      size: 12,
      type_name: 'ssd_hiiops',
    });
    expect(price.body).toEqual(same.body);
  });

  it('makes none from a snapshot that a task holds, which a client may try again', async () => {
    const snapshot_id = await newSnapshot(await newVolume());
    const taskId = crypto.randomUUID();
    const hold = (status: string, task: string | null) =>
      service.pool.query('update snapshots set status = $1, task_id = $2 where id = $3', [status, task, snapshot_id]);
    await hold('restoring', taskId);
    const body = { source: 'snapshot', name: 'copy', snapshot_id };
    const refused = await service.http.post(V, body);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(taskId);
    expect((await service.http.post(V, { ...body, size: 11 })).status).toBe(400);
    await hold('available', null);
    await newVolume(body);
  });

  it.each([
    [{ source: 'image', name: 'boot', size: 10, image_id: crypto.randomUUID() }, 'image_id'],
    [{ source: 'snapshot', name: 'copy', snapshot_id: crypto.randomUUID() }, 'snapshot_id'],
    [{ source: 'new-volume', name: 'data', size: 0 }, 'size'],
    [{ source: 'new-volume', name: 'data' }, 'size'],
    [{ source: 'nothing', name: 'data' }, 'source'],
    [{ source: 'new-volume', name: '-', size: 1 }, 'name'],
    [{ source: 'new-volume', name: 'data', size: 1, tags: { 'a=b': 'c' } }, 'tags.a=b'],
  ])('refuses %j', async (body, field) => {
    const answer = await service.http.post(V, body);
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toContain(field);
  });

  it('refuses a type that the region does not have', async () => {
    const answer = await service.http.post('/cloud/v1/volumes/1/3', {
      source: 'new-volume',
      name: 'data',
      size: 1,
      type_name: 'ultra',
    });
    expect(answer.body.invalid_fields).toHaveProperty('type_name');
  });

  it('deletes one, once, and never one with snapshots that are not named', async () => {
    const id = await newVolume();
    const snapshot = await newSnapshot(id);
    const refused = await service.http.delete(`${V}/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(snapshot);
    const another = await newSnapshot(await newVolume());
    expect((await service.http.delete(`${V}/${id}?snapshots=${another}`)).status).toBe(409);
    const accepted = await service.http.delete(`${V}/${id}?snapshots=${snapshot},${another},${crypto.randomUUID()}`);
    const again = await service.http.delete(`${V}/${id}?snapshots=${snapshot}`);
    expect([404, 409]).toContain(again.status);
    await done(accepted);
    expect((await service.http.get(`${V}/${id}`)).status).toBe(404);
    expect((await service.http.get(`${S}/${snapshot}`)).status).toBe(404);
    expect((await service.http.get(`${S}/${another}`)).body.status).toBe('available');
  });

  it('deletes one that was made of a snapshot, which stays', async () => {
    const snapshot = await newSnapshot(await newVolume());
    const made = await done(await service.http.post(V, { source: 'snapshot', name: 'copy', snapshot_id: snapshot }));
    const [copy] = made.created_resources.volumes;
    await done(await service.http.delete(`${V}/${copy}?snapshots=${snapshot}`));
    expect((await service.http.get(`${S}/${snapshot}`)).body.status).toBe('available');
  });

  it('counts what there is against the quota', async () => {
    const { rows } = await service.pool.query(
      `select (select coalesce(sum(used), 0) from quota_usage where attribute = 'volume_count')::int as volumes_used,
        (select count(*) from volumes)::int as volumes,
        (select coalesce(sum(used), 0) from quota_usage where attribute = 'snapshot_count')::int as snapshots_used,
        (select count(*) from snapshots)::int as snapshots`,
    );
    const [counts] = rows;
    expect(counts.volumes_used).toBe(counts.volumes);
    expect(counts.snapshots_used).toBe(counts.snapshots);
    expect(counts.volumes).toBeGreaterThan(0);
  });

  it('shows nobody the volumes and snapshots of others', async () => {
    const id = await newVolume();
    const other = await service.otherTenant();
    for (const path of [V, S, `${V}/${id}`]) {
      expect((await other.http.get(path)).status).toBe(404);
      expect((await service.anonymous.get(path)).status).toBe(401);
    }
    const own = `/cloud/v1/volumes/${other.projectId}/1`;
    expect((await other.http.get(`${own}/${id}`)).status).toBe(404);
    expect((await other.http.delete(`${own}/${id}`)).status).toBe(404);
    const users = await service.withRole('Users');
    expect((await users.post(V, { source: 'new-volume', name: 'data', size: 1 })).status).toBe(403);
  });
});

describe('snapshots', () => {
  it('takes one, shows it, and deletes it', async () => {
    const volume = await newVolume();
    const id = await newSnapshot(volume);
    const read = await service.http.get(`${S}/${id}`);
    expect(read.body).toMatchObject({ name: 'before', volume_id: volume, size: 10, status: 'available' });
    expect((await service.http.get(`${S}?volume_id=${volume}`)).body.count).toBe(1);
    expect((await service.http.get(`${V}/${volume}`)).body.snapshot_ids).toEqual([id]);
    await done(await service.http.delete(`${S}/${id}`));
    expect((await service.http.get(`${S}/${id}`)).status).toBe(404);
  });

  it('refuses a volume that is unknown or of another type', async () => {
    const unknown = await service.http.post(S, { volume_id: crypto.randomUUID(), name: 'before' });
    expect(unknown.body.invalid_fields).toHaveProperty('volume_id');
    const fast = await newVolume({ source: 'new-volume', size: 1, type_name: 'ssd_lowlatency' });
    const refused = await service.http.post(S, { volume_id: fast, name: 'before' });
    expect(refused.body.invalid_fields).toHaveProperty('volume_id');
  });

  it('refuses a volume that is in error', async () => {
    const volume = await newVolume();
    await service.pool.query(`update volumes set status = 'error' where id = $1`, [volume]);
    const refused = await service.http.post(S, { volume_id: volume, name: 'before' });
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('is error')]);
    expect((await service.http.get(`${S}?volume_id=${volume}`)).body.count).toBe(0);
  });

  it.each(['not-an-id', crypto.randomUUID()])('knows no snapshot %s', async (id) => {
    expect((await service.http.get(`${S}/${id}`)).status).toBe(404);
    expect((await service.http.delete(`${S}/${id}`)).status).toBe(404);
  });
});
