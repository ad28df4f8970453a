import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

/** Region 1 has VAST shares, region 2 standard ones. */
const base = (region = 1) => `/cloud/v1/file_shares/1/${region}`;
const v3 = (id: string) => `/cloud/v3/file_shares/1/1/${id}`;
const SLURM = { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' };

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

async function finished(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(answer.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
async function share(more: object = {}, region = 1): Promise<string> {
  const body = { name: 'changing', protocol: 'NFS', size: 10, tags: { env: 'a', owner: 'b' }, ...more };
  return (await finished(await service.http.post(base(region), body))).created_resources.file_shares[0];
}
const read = async (id: string, region = 1) => (await service.http.get(`${base(region)}/${id}`)).body;

describe('a change', () => {
  it('is done when the first version answers, and keeps what it leaves out', async () => {
    const id = await share();
    const { status, body } = await service.http.patch(`${base()}/${id}`, {
      share_settings: { root_squash: false },
      tags: { env: 'c', owner: null },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'changing',
      task_id: null,
      share_settings: {
        type_name: 'vast',
        root_squash: false,
        path_length: null,
        allowed_characters: null,
      },
      tags: [{ key: 'env', value: 'c', read_only: false }],
    });
    expect(await read(id)).toEqual(body);
    const { results } = (await service.http.get('/cloud/v1/tasks?task_type=update_sfs&limit=1')).body;
    expect(results[0]).toMatchObject({ state: 'FINISHED', data: { file_share_id: id } });
    const cleared = await service.http.patch(`${base()}/${id}`, { name: 'renamed', tags: null });
    expect(cleared.body).toEqual({ ...body, name: 'renamed', tags: [] });
  });

  it('is a task in the third, and none when nothing changes', async () => {
    const id = await share();
    const before = await read(id);
    const task = await finished(
      await service.http.patch(v3(id), { name: 'by task', share_settings: SLURM, tags: { env: 'd' } }),
    );
    expect(task).toMatchObject({ task_type: 'update_sfs', created_resources: null });
    expect(task.data).toMatchObject({ file_share_id: id, name: 'by task' });
    expect(await read(id)).toMatchObject({
      ...before,
      name: 'by task',
      share_settings: { type_name: 'vast', ...SLURM },
      tags: [
        { key: 'env', value: 'd', read_only: false },
        { key: 'owner', value: 'b', read_only: false },
      ],
    });
    for (const same of [
      {},
      { name: 'by task' },
      { share_settings: {} },
      { share_settings: SLURM, tags: { env: 'd' } },
    ]) {
      const answer = await service.http.patch(v3(id), same);
      expect([answer.status, answer.body]).toEqual([200, []]);
    }
    expect((await service.http.patch(`/gcore${v3(id)}`, {})).body.tasks).toHaveLength(1);
  });

  it('has no size under /gcore: a larger one is asked for elsewhere', async () => {
    const id = await share();
    const answer = await service.http.patch(`/gcore${v3(id)}`, { name: 'larger', size: 20 });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('tradewind-ignored')).toBe('size');
    expect(await service.http.task(answer.body.tasks[0])).toMatchObject({ state: 'FINISHED' });
    expect(await read(id)).toMatchObject({ name: 'larger', size: 10 });
    const alone = await service.http.patch(`/gcore${v3(id)}`, { size: 20 });
    const { body: task } = await service.http.get(`/cloud/v1/tasks/${alone.body.tasks[0]}`);
    expect(task).toMatchObject({ state: 'FINISHED', task_type: 'update_sfs', data: { file_share_id: id } });
    expect((await service.http.patch(v3(id), { size: 20 })).status).toBe(400);
  });

  it('of settings is refused for a standard share', async () => {
    const networks = await service.http.get('/cloud/v1/networks/1/2');
    const network = networks.body.results.find((row: { external: boolean }) => !row.external);
    const id = await share({ network: { network_id: network.id } }, 2);
    const url = `${base(2)}/${id}`;
    const refused = await service.http.patch(url, { share_settings: { root_squash: true } });
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual(['share_settings']);
    expect((await service.http.patch(url, { name: 'standard renamed' })).body.name).toBe('standard renamed');
  });

  it.each<[object, string]>([
    [{ name: 'x' }, 'name'],
    [{ name: null }, 'name'],
    [{ share_settings: null }, 'share_settings'],
    [{ share_settings: { path_length: null } }, 'share_settings.path_length'],
    [{ share_settings: { type_name: 'vast' } }, 'share_settings.type_name'],
    [{ tags: { 'a b': 'c' } }, 'tags.a b'],
    [{ size: 20 }, 'size'],
  ])('refuses %j', async (body, field) => {
    const id = await share();
    for (const url of [`${base()}/${id}`, v3(id)]) {
      const answer = await service.http.patch(url, body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
    }
  });
});

describe('extending', () => {
  it('makes a share larger with a task', async () => {
    const id = await share();
    const task = await finished(await service.http.post(`${base()}/${id}/extend`, { size: 25 }));
    expect(task).toMatchObject({ task_type: 'extend_sfs', data: { file_share_id: id, size: 25 } });
    expect(await read(id)).toMatchObject({ size: 25, status: 'available', task_id: null });
    for (const size of [25, 24, 0, 1_000_001, '30', null]) {
      const refused = await service.http.post(`${base()}/${id}/extend`, { size });
      expect(refused.status, String(size)).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual(['size']);
    }
  });
});

it('a share that a task holds takes no change', async () => {
  const id = await share();
  const taskId = randomUUID();
  await service.pool.query(`update file_shares set status = 'extending', task_id = $1 where id = $2`, [taskId, id]);
  for (const answer of [
    await service.http.patch(`${base()}/${id}`, { name: 'other' }),
    await service.http.patch(v3(id), {}),
    await service.http.post(`${base()}/${id}/extend`, { size: 30 }),
    await service.http.post(`${base()}/${id}/metadata`, { a: 'b' }),
  ]) {
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain(taskId);
  }
});

it('a share that Slurm works on keeps the settings that Slurm needs', async () => {
  const id = await share({ share_settings: SLURM });
  const key = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'slurm key' });
  await finished(
    await service.http.post('/cloud/v2/k8s/clusters/1/1', {
      name: 'slurm',
      version: 'v1.32.13',
      keypair: 'slurm key',
      csi: { nfs: { vast_enabled: true } },
      pools: [{ name: 'gpus', flavor_id: 'bm3-ai-8xlarge-gpu-h100-8', min_node_count: 1 }],
      add_ons: { slurm: { enabled: true, file_share_id: id, ssh_key_ids: [key.body.id], worker_count: 1 } },
    }),
  );
  for (const [field, value] of [
    ['root_squash', true],
    ['path_length', 'LCD'],
    ['allowed_characters', 'LCD'],
  ] as const) {
    for (const url of [`${base()}/${id}`, v3(id)]) {
      const refused = await service.http.patch(url, { share_settings: { [field]: value } });
      expect(refused.status).toBe(409);
      expect(refused.body.message).toContain(`Slurm in cluster slurm uses file share changing`);
      expect(refused.body.message).toContain(field);
    }
  }
  expect(await read(id)).toMatchObject({ share_settings: { type_name: 'vast', ...SLURM } });
  const renamed = await service.http.patch(`${base()}/${id}`, { name: 'spool', share_settings: SLURM });
  expect(renamed.body).toMatchObject({ name: 'spool' });
  await finished(await service.http.post(`${base()}/${id}/extend`, { size: 20 }));
});

it('lists by tags as well', async () => {
  const mark = randomUUID().slice(0, 8);
  const id = await share({ tags: { mark } });
  const list = async (query: string) => (await service.http.get(`${base()}?${query}`)).body;
  expect(await list(`tag_key_value={"mark":"${mark}"}`)).toMatchObject({ count: 1, results: [{ id }] });
  expect(await list(`tag_key=mark&tag_key=env&name=changing`)).toMatchObject({ count: 0 });
});

it('a share and the deletion of its network at the same moment do not both succeed', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const made = await finished(
        await service.http.post('/cloud/v1/networks/1/2', { name: `racing ${index}`, create_router: false }),
      );
      const [network_id] = made.created_resources.networks;
      await finished(
        await service.http.post('/cloud/v1/subnets/1/2', { name: 'racing', network_id, cidr: '10.9.0.0/24' }),
      );
      const body = { name: `racing ${index}`, protocol: 'NFS', size: 1, network: { network_id } };
      const [created, gone] = await Promise.all([
        service.http.post(base(2), body),
        service.http.delete(`/cloud/v1/networks/1/2/${network_id}`),
      ]);
      return [created, gone] as const;
    }),
  );
  for (const [created, gone] of outcomes) {
    expect([400, 200, 409], created.text).toContain(created.status);
    expect([409, 200], gone.text).toContain(gone.status);
    expect((created.status === 200) === (gone.status === 200)).toBe(false);
    const winner = created.status === 200 ? created : gone;
    expect(await service.http.task(winner.body[0])).toMatchObject({ state: 'FINISHED' });
  }
});

it('refuses everyone else', async () => {
  const id = await share();
  const { http } = await service.otherTenant();
  const user = await service.withRole('Users');
  const calls: [string, string, object][] = [
    ['PATCH', `${base()}/${id}`, { name: 'stolen' }],
    ['PATCH', v3(id), { name: 'stolen' }],
    ['POST', `${base()}/${id}/extend`, { size: 20 }],
  ];
  for (const [method, path, body] of calls) {
    expect((await service.anonymous.request(method, path, { body })).status).toBe(401);
    expect((await http.request(method, path, { body })).status).toBe(404);
    expect((await user.request(method, path, { body })).status).toBe(403);
    const unknown = path.replace(id, randomUUID());
    expect((await service.http.request(method, unknown, { body })).status).toBe(404);
  }
});
