import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../../test/support/service.ts';

const V = '/cloud/v1/volumes/1/1';
const S = '/cloud/v1/snapshots/1/1';
const P = '/cloud/v1/lifecycle_policy/1/1';

const MINUTE = 60_000;
let ahead = 0;
let service: TestService;
beforeAll(async () => {
  service = await startService(
    { TRADEWIND_SIMULATION_SPEED: '200' },
    {
      clock: { now: () => new Date(Date.now() + ahead) },
    },
  );
});
afterAll(() => service.stop());

/** Nothing that is being worked on has a deadline that this passes. */
const passes = (minutes: number) => {
  ahead += minutes * MINUTE;
};

async function made(path: string, body: object) {
  const answer = await service.http.post(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function newVolume(body: object = {}): Promise<string> {
  const [taskId] = await made(V, { source: 'new-volume', size: 10, name: 'data', ...body });
  const task = await service.http.task(taskId);
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources.volumes[0];
}

const interval = (more: object = {}) => ({ type: 'interval', minutes: 60, ...more });
const newPolicy = (body: object) => made(P, { name: 'every hour', action: 'volume_snapshot', ...body });
const policyOf = async (id: number) => (await service.http.get(`${P}/${id}`)).body;
const snapshotsOf = async (volumeId: string) => (await service.http.get(`${S}?volume_id=${volumeId}`)).body.results;
/** Waits until the volume has so many snapshots, all of them ready. */
async function settled(volumeId: string, count: number) {
  await expect
    .poll(async () => {
      // What looks at new snapshots looks again in some seconds.
      passes(0.1);
      return (await snapshotsOf(volumeId)).map(({ status }: { status: string }) => status);
    })
    .toEqual(Array.from({ length: count }, () => 'available'));
  return snapshotsOf(volumeId);
}
async function switchCloud(clientId: number, body: object) {
  const services = `/iam/clients/${clientId}/services`;
  const { id } = (await service.http.get(services)).body.find((one: { name: string }) => one.name === 'CLOUD');
  return service.http.put(`${services}/${id}`, body);
}
const settingOf = (policy: { schedules: { id: string }[] }) => policy.schedules[0]?.id ?? '';
const eventsOf = async (subject: string) => {
  const { body } = await service.http.get(`/tradewind/v1/events?cursor=oldest&subject=${subject}`);
  return body.events.map(({ type }: { type: string }) => type);
};

describe('policies', () => {
  it('are made, listed, changed and deleted', async () => {
    const volume = await newVolume({ name: 'first' });
    const schedule = {
      type: 'cron',
      day_of_week: 'fri, tue',
      hour: '0, 20',
      minute: '30',
      timezone: 'Europe/Berlin',
      max_quantity: 3,
      retention_time: { weeks: 2 },
      resource_name_template: '{volume_id}',
    };
    const policy = await newPolicy({ volume_ids: [volume], schedules: [schedule, interval()] });
    expect(policy).toMatchObject({
      name: 'every hour',
      action: 'volume_snapshot',
      status: 'active',
      project_id: 1,
      region_id: 1,
      user_id: 1,
      problems: [],
      volumes: [
        {
          volume_id: volume,
          volume_name: 'first',
        },
      ],
      schedules: [
        {
          ...schedule,
          owner: 'lifecycle_policy',
          owner_id: policy.id,
          day: null,
          week: null,
          month: null,
          retention_time: {
            weeks: 2,
            days: null,
            hours: null,
            minutes: null,
          },
        },
        {
          type: 'interval',
          minutes: 60,
          hours: null,
          max_quantity: 2,
          retention_time: null,
        },
      ],
    });
    expect((await service.http.get(P)).body.results).toContainEqual(policy);
    const at = `${P}/${policy.id}`;
    const renamed = await service.http.patch(at, { name: 'renamed', status: 'paused' });
    expect(renamed.body).toEqual({ ...policy, name: 'renamed', status: 'paused' });
    const less = await service.http.post(`${at}/remove_schedules`, { schedule_ids: [settingOf(policy)] });
    expect(less.body.schedules).toEqual([policy.schedules[1]]);
    const more = await service.http.post(`${at}/add_schedules`, { schedules: [interval({ days: 1 })] });
    expect(more.body.schedules).toHaveLength(2);
    const without = await service.http.put(`${at}/remove_volumes_from_policy`, { volume_ids: [volume] });
    expect(without.body.volumes).toEqual([]);
    const again = await service.http.put(`${at}/add_volumes_to_policy`, {
      volume_ids: [volume.toUpperCase(), volume],
    });
    expect(again.body.volumes).toEqual(policy.volumes);
    expect((await service.http.delete(at)).status).toBe(204);
    expect((await service.http.get(at)).status).toBe(404);
    expect(await eventsOf(`snapshot_policy/${policy.id}`)).toEqual([
      'tradewind.snapshot_policy.created',
      'tradewind.snapshot_policy.updated',
      'tradewind.snapshot_policy.updated',
      'tradewind.snapshot_policy.updated',
      'tradewind.snapshot_policy.detached',
      'tradewind.snapshot_policy.attached',
      'tradewind.snapshot_policy.deleted',
    ]);
    const log = await service.http.get('/cloud/v1/user_actions?api_group=lifecycle_policy_volume_member');
    expect(log.body.results.map((one: { action_type: string }) => one.action_type)).toEqual(['attach', 'detach']);
  });

  it('have another version when their schedules change', async () => {
    const policy = await newPolicy({ schedules: [interval()] });
    const at = `/cloud/v1/schedule/1/1/${settingOf(policy)}`;
    const before = (await service.http.get(`${P}/${policy.id}`)).headers.get('etag');
    const { body } = await service.http.patch(at, { minutes: 0, hours: 2, retention_time: { days: 1 } });
    expect(body).toMatchObject({ type: 'interval', hours: 2, minutes: 0, retention_time: { days: 1 } });
    expect((await service.http.get(at)).body).toEqual(body);
    expect((await service.http.get(`${P}/${policy.id}`)).headers.get('etag')).not.toBe(before);
    const cron = await service.http.patch(at, { type: 'cron', hour: '3', retention_time: null });
    expect(cron.body).toMatchObject({
      type: 'cron',
      hour: '3',
      minute: null,
      timezone: 'UTC',
      retention_time: null,
    });
    expect(cron.body).not.toHaveProperty('hours');
    const mixed = await service.http.patch(at, { minutes: 5 });
    expect(mixed.body.invalid_fields).toHaveProperty('minutes');
  });

  it.each<[string, object, string]>([
    ['an unknown action', { action: 'volume_backup' }, 'action'],
    ['a bad name', { name: '-' }, 'name'],
    ['an unknown volume', { volume_ids: [crypto.randomUUID()] }, 'volume_ids'],
    ['a schedule that is never due', { schedules: [{ type: 'cron', day: '31', month: '2' }] }, 'schedules.0.day'],
    ['a schedule without times', { schedules: [interval(), { type: 'interval' }] }, 'schedules.1.minutes'],
    ['a field of the other type', { schedules: [{ type: 'cron', hour: '1', hours: 1 }] }, 'schedules.0.hours'],
    ['no retention', { schedules: [interval({ retention_time: {} })] }, 'schedules.0.retention_time'],
    ['none kept', { schedules: [interval({ max_quantity: 0 })] }, 'schedules.0.max_quantity'],
    [
      'an unknown placeholder',
      { schedules: [interval({ resource_name_template: '{x}' })] },
      'schedules.0.resource_name_template',
    ],
    ['too many schedules', { schedules: Array.from({ length: 11 }, () => interval()) }, 'schedules'],
  ])('are refused with %s', async (_, body, field) => {
    const answer = await service.http.post(P, { name: 'good', action: 'volume_snapshot', ...body });
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
  });

  it('take no volume without snapshots, and none beyond their limits', async () => {
    const fast = await newVolume({ type_name: 'ssd_lowlatency' });
    const policy = await newPolicy({ schedules: Array.from({ length: 10 }, () => interval()) });
    const at = `${P}/${policy.id}`;
    const refused = await service.http.put(`${at}/add_volumes_to_policy`, { volume_ids: [fast] });
    expect(refused.body.invalid_fields.volume_ids[0]).toContain('ssd_lowlatency');
    expect((await service.http.post(`${at}/add_schedules`, { schedules: [interval()] })).status).toBe(409);
    const foreign = await service.http.post(`${at}/remove_schedules`, {
      schedule_ids: [crypto.randomUUID()],
    });
    expect(foreign.body.invalid_fields).toHaveProperty('schedule_ids');
    const other = await service.otherTenant();
    const place = `/cloud/v1/lifecycle_policy/${other.projectId}/1`;
    await service.pool.query(
      `insert into lifecycle_policies (project_id, region_id, name, status, user_id, created_at, updated_at)
       select $1, 1, 'many', 'paused', 1, now(), now() from generate_series(1, 100)`,
      [other.projectId],
    );
    const beyond = await other.http.post(place, { name: 'one more', action: 'volume_snapshot' });
    expect(beyond.status).toBe(403);
    expect(beyond.text).toContain('snapshot_schedule_count');
  });

  it('take new volumes, which name them', async () => {
    const policy = await newPolicy({ schedules: [interval()] });
    const volume = await newVolume({ lifecycle_policy_ids: [policy.id, policy.id] });
    expect((await policyOf(policy.id)).volumes).toEqual([{ volume_id: volume, volume_name: 'data' }]);
    const body = { source: 'new-volume', size: 1, name: 'data', lifecycle_policy_ids: [policy.id, 999_999] };
    const refused = await service.http.post(V, body);
    expect(refused.body.invalid_fields.lifecycle_policy_ids[0]).toContain('999999');
    const fast = await service.http.post(V, {
      ...body,
      lifecycle_policy_ids: [policy.id],
      type_name: 'ssd_lowlatency',
    });
    expect(fast.body.invalid_fields).toHaveProperty('lifecycle_policy_ids');
  });

  it('say what they may use and cost', async () => {
    const volumes = [await newVolume(), await newVolume({ size: 20, type_name: 'ssd_hiiops' })];
    const body = { volume_ids: volumes, schedules: [interval(), interval({ max_quantity: 3 })] };
    const whole = { name: 'prices', action: 'volume_snapshot', ...body };
    const usage = await made(`${P}/estimate_max_policy_usage`, whole);
    expect(usage).toMatchObject({
      max_volume_snapshot_count_usage: 10,
      max_volume_snapshot_sequence_length: 5,
      max_volume_snapshot_size_usage: 150,
    });
    const each = await Promise.all(volumes.map((volume_id) => made('/cloud/v1/pricing/1/1/snapshots', { volume_id })));
    const hour = each.reduce((sum, price) => sum + 5 * price.price_per_hour, 0);
    expect(usage.max_cost.price_per_hour).toBeCloseTo(hour, 8);
    expect(await made('/cloud/v1/pricing/1/1/lifecycle_policy', whole)).toEqual(usage.max_cost);
    const byType = await made('/cloud/v2/pricing/1/1/lifecycle_policy', body);
    expect(byType.total_price_per_hour).toBe(usage.max_cost.price_per_hour);
    expect(byType.per_hour.volumes.map(({ type }: { type: string }) => type).sort()).toEqual([
      'ssd_hiiops',
      'standard',
    ]);
  });
});

describe('snapshots', () => {
  it('are taken when they are due, once for what was missed, and deleted when enough are kept', async () => {
    const volume = await newVolume();
    const policy = await newPolicy({
      volume_ids: [volume],
      schedules: [interval({ resource_name_template: 'of {volume_id} by {lifecycle_policy_id}' })],
    });
    expect(await snapshotsOf(volume)).toEqual([]);
    passes(60);
    const [first] = await settled(volume, 1);
    expect(first.name).toBe(`of ${volume} by ${policy.id}`);
    const task = (await service.http.get(`/cloud/v1/tasks/${first.creator_task_id}`)).body;
    expect(task).toMatchObject({
      task_type: 'create_snapshot',
      schedule_id: settingOf(policy),
      lifecycle_policy_id: policy.id,
      user_id: 1,
    });
    expect(await eventsOf(`snapshot/${first.id}`)).toEqual(['tradewind.snapshot.created']);
    // Five of them were missed.
    passes(5 * 60 + 5);
    const [second] = await settled(volume, 2);
    passes(60);
    await expect.poll(async () => (await snapshotsOf(volume))[0]?.id).not.toBe(second.id);
    const kept = await settled(volume, 2);
    expect(kept.map(({ id }: { id: string }) => id)).not.toContain(first.id);
    expect(kept.map(({ id }: { id: string }) => id)).toContain(second.id);
    expect(await eventsOf(`snapshot/${first.id}`)).toContain('tradewind.snapshot.deleted');
    const listed = async (query: string) => (await service.http.get(`${S}?${query}`)).body.count;
    expect(await listed(`lifecycle_policy_id=${policy.id}`)).toBe(2);
    expect(await listed(`schedule_id=${settingOf(policy)}`)).toBe(2);
    expect(await listed(`schedule_id=${crypto.randomUUID()}`)).toBe(0);
    expect(await listed('schedule_id=none')).toBe(0);
    await service.http.delete(`${P}/${policy.id}`);
    passes(120);
    expect(await settled(volume, 2)).toEqual(kept);
  });

  it('go when their time is over, also the last one', async () => {
    const volume = await newVolume();
    const policy = await newPolicy({
      volume_ids: [volume],
      schedules: [interval({ retention_time: { minutes: 20 } })],
    });
    passes(61);
    await settled(volume, 1);
    passes(21);
    await settled(volume, 0);
    await service.http.delete(`${P}/${policy.id}`);
  });

  it('are neither taken nor deleted while the policy is paused', async () => {
    const volume = await newVolume();
    const policy = await newPolicy({ volume_ids: [volume], schedules: [interval({ max_quantity: 1 })] });
    passes(61);
    const [first] = await settled(volume, 1);
    await service.http.patch(`${P}/${policy.id}`, { status: 'paused' });
    passes(240);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await settled(volume, 1)).toEqual([first]);
    await service.http.patch(`${P}/${policy.id}`, { status: 'active' });
    passes(30);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await settled(volume, 1)).toEqual([first]);
    passes(31);
    await expect.poll(async () => (await snapshotsOf(volume))[0]?.id).not.toBe(first.id);
    await settled(volume, 1);
    await service.http.delete(`${P}/${policy.id}`);
  });

  it('wait for a busy volume, and the policy says so', async () => {
    const volume = await newVolume();
    const policy = await newPolicy({ volume_ids: [volume], schedules: [interval()] });
    const holder = crypto.randomUUID();
    const hold = (task: string | null) =>
      service.pool.query('update volumes set task_id = $1 where id = $2', [task, volume]);
    await hold(holder);
    passes(61);
    await expect
      .poll(async () => (await policyOf(policy.id)).problems)
      .toEqual([
        {
          schedule_id: settingOf(policy),
          volume_id: volume,
          since: expect.any(String),
          message: expect.stringContaining(holder),
          next_attempt: expect.any(String),
        },
      ]);
    expect(await eventsOf(`snapshot_policy/${policy.id}`)).toContain('tradewind.snapshot_policy.snapshot_missed');
    await hold(null);
    passes(1);
    await settled(volume, 1);
    expect((await policyOf(policy.id)).problems).toEqual([]);
    await service.http.delete(`${P}/${policy.id}`);
  });

  it('are tried again if the infrastructure refuses them', async () => {
    const volume = await newVolume();
    const policy = await newPolicy({ volume_ids: [volume], schedules: [interval()] });
    passes(61);
    const [first] = await settled(volume, 1);
    const gone = crypto.randomUUID();
    // What is left when the task of a snapshot has failed.
    await service.pool.query(
      'update snapshot_turns set made_id = $1, prune_at = due_at - $2::interval where volume_id = $3',
      [gone, '2 hours', volume],
    );
    await expect.poll(async () => (await policyOf(policy.id)).problems[0]?.message).toContain(gone);
    passes(1);
    const both = await settled(volume, 2);
    expect(both[1]).toEqual(first);
    await expect
      .poll(async () => {
        passes(0.1);
        const { rows } = await service.pool.query('select attempts from snapshot_turns where volume_id = $1', [volume]);
        return rows[0].attempts;
      })
      .toBe(0);
    await service.http.delete(`${P}/${policy.id}`);
  });

  it('make room for the next ones if the quota is full', async () => {
    const tenant = await service.otherTenant();
    const [v, s] = [`/cloud/v1/volumes/${tenant.projectId}/1`, `/cloud/v1/snapshots/${tenant.projectId}/1`];
    const volume = await tenant.http.post(v, { source: 'new-volume', size: 1, name: 'data' });
    const task = await tenant.http.task(volume.body[0]);
    const [id] = task.created_resources.volumes;
    const limited = await service.http.patch(`/cloud/v2/regional_quotas/${tenant.clientId}/1`, {
      volume_snapshots_count_limit: 2,
    });
    expect(limited.status, limited.text).toBeLessThan(300);
    const policy = await tenant.http.post(`/cloud/v1/lifecycle_policy/${tenant.projectId}/1`, {
      name: 'two',
      action: 'volume_snapshot',
      volume_ids: [id],
      schedules: [interval()],
    });
    const ids = async () =>
      (await tenant.http.get(s)).body.results
        .filter(({ status }: { status: string }) => status === 'available')
        .map((one: { id: string }) => one.id);
    const poll = (count: number) =>
      expect
        .poll(async () => {
          passes(0.1);
          return (await ids()).length;
        })
        .toBe(count);
    passes(61);
    await poll(1);
    passes(61);
    await poll(2);
    const before = await ids();
    passes(61);
    await expect
      .poll(async () => {
        passes(0.1);
        return ids();
      })
      .toEqual([expect.not.stringMatching(before[0]), before[0]]);
    const after = await tenant.http.get(`/cloud/v1/lifecycle_policy/${tenant.projectId}/1/${policy.body.id}`);
    expect(after.body.problems).toEqual([]);
  });

  it.each<[string, (clientId: number) => Promise<unknown>, (clientId: number) => Promise<unknown>]>([
    [
      'the account is suspended',
      (id) => service.http.post(`/tradewind/v1/clients/${id}/suspend`),
      (id) => service.http.post(`/tradewind/v1/clients/${id}/resume`),
    ],
    [
      'the account may not use the cloud',
      (id) => switchCloud(id, { enabled: false, status: 'paused' }),
      (id) => switchCloud(id, { enabled: true, status: 'active' }),
    ],
  ])(
    'are neither taken nor deleted while %s',
    async (_, shut, open) => {
      const tenant = await service.otherTenant();
      const [v, s] = [`/cloud/v1/volumes/${tenant.projectId}/1`, `/cloud/v1/snapshots/${tenant.projectId}/1`];
      const volume = await tenant.http.post(v, { source: 'new-volume', size: 1, name: 'data' });
      const [id] = (await tenant.http.task(volume.body[0])).created_resources.volumes;
      const policy = await tenant.http.post(`/cloud/v1/lifecycle_policy/${tenant.projectId}/1`, {
        name: 'two',
        action: 'volume_snapshot',
        volume_ids: [id],
        schedules: [interval({ retention_time: { minutes: 90 } })],
      });
      expect(policy.status, policy.text).toBe(200);
      const taken = async (): Promise<unknown[]> =>
        (await service.pool.query('select id from snapshots where volume_id = $1', [id])).rows;
      passes(61);
      await expect.poll(async () => (await taken()).length).toBe(1);
      const before = await taken();
      expect(await shut(tenant.clientId)).toMatchObject({ status: 200 });
      passes(180);
      await expect
        .poll(async () => {
          const { rows } = await service.pool.query('select problem from snapshot_turns where volume_id = $1', [id]);
          return rows[0].problem;
        })
        .toContain('suspended');
      expect(await taken()).toEqual(before);
      expect(await open(tenant.clientId)).toMatchObject({ status: 200 });
      passes(15);
      await expect.poll(taken).toEqual([{ id: expect.not.stringMatching(Object(before[0]).id) }]);
      expect((await tenant.http.get(s)).body.count).toBe(1);
    },
    60_000,
  );

  it('leave with their volume, and the policy forgets it', async () => {
    const volume = await newVolume();
    const policy = await newPolicy({ volume_ids: [volume], schedules: [interval()] });
    const deleted = await service.http.delete(`${V}/${volume}`);
    expect((await service.http.task(deleted.body[0])).state).toBe('FINISHED');
    expect((await policyOf(policy.id)).volumes).toEqual([]);
    passes(61);
    await expect
      .poll(async () => {
        const { rows } = await service.pool.query('select from snapshot_turns where volume_id = $1', [volume]);
        return rows.length;
      })
      .toBe(0);
  });
});
