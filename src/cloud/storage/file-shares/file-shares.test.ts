import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

/** Region 1 has VAST shares, region 2 standard ones, region 3 none. */
const base = (region: number) => `/cloud/v1/file_shares/1/${region}`;
const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const VAST = { name: 'spool of slurm', protocol: 'NFS', size: 10, type_name: 'vast' };

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

/** Creates a share, waits for its task and returns the share's ID. */
async function created(body: object, region = 1): Promise<string> {
  const { status, text, body: tasks } = await service.http.post(base(region), body);
  expect(status, text).toBe(200);
  expect(tasks).toEqual([expect.any(String)]);
  const task = await service.http.task(tasks[0]);
  expect(task).toMatchObject({ task_type: 'create_sfs', state: 'FINISHED', error: null });
  expect(task.created_resources).toEqual({ file_shares: [task.data.file_share_id] });
  return task.data.file_share_id;
}

async function usedQuota(): Promise<number> {
  const { rows } = await service.pool.query(
    `select used from quota_usage where client_id = 1 and region_id = 1 and attribute = 'sfs_count'`,
  );
  return rows[0]?.used ?? 0;
}

describe('a VAST share', () => {
  test('has every field once its task has ended', async () => {
    const id = await created({
      ...VAST,
      share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
      tags: { env: ' test ' },
    });
    const { body } = await service.http.get(`${base(1)}/${id}`);
    const ofPlatform = {
      network_id: expect.stringMatching(UUID4),
      network_name: 'vast',
      subnet_id: expect.stringMatching(UUID4),
      subnet_name: 'vast',
    };
    expect(body).toEqual({
      id,
      name: VAST.name,
      size: 10,
      protocol: 'NFS',
      status: 'available',
      type_name: 'vast',
      volume_type: 'vast_share_type',
      share_settings: {
        type_name: 'vast',
        root_squash: false,
        path_length: 'NPL',
        allowed_characters: 'NPL',
        trash_access: false,
      },
      connection_point: expect.stringMatching(`^198\\.1[89]\\.\\d+\\.\\d+:/shares/${id}$`),
      ...ofPlatform,
      network: ofPlatform,
      share_network_name: null,
      tags: [{ key: 'env', value: 'test', read_only: false }],
      project_id: 1,
      region: 'Port Halden',
      region_id: 1,
      creator_task_id: expect.any(String),
      task_id: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
    });
  });

  test('is what is meant where the region has no others and nothing else is named, with root squashed', async () => {
    const id = await created({ name: 'plain', protocol: 'NFS', size: 1 });
    const { body } = await service.http.get(`${base(1)}/${id}`);
    expect(body.share_settings).toEqual({
      type_name: 'vast',
      root_squash: true,
      path_length: null,
      allowed_characters: null,
      trash_access: false,
    });
  });

  test('answers tasks in the form of the official clients under their base address', async () => {
    const { body: answer } = await service.http.post(`/gcore${base(1)}`, { ...VAST, name: 'of a client' });
    expect(answer).toEqual({ tasks: [expect.any(String)] });
    const task = await service.http.task(answer.tasks[0]);
    const { body } = await service.http.get(`/gcore${base(1)}/${task.created_resources.file_shares[0]}`);
    expect(body).toMatchObject({ name: 'of a client', creator_task_id: task.id });
  });
});

test('a standard share is reached through a subnet', async () => {
  const networks = await service.http.get('/cloud/v1/networks/1/2');
  expect(networks.status, networks.text).toBe(200);
  const network = networks.body.results.find((row: { external: boolean }) => !row.external);
  const form = { name: 'standard share', protocol: 'NFS', size: 5, network: { network_id: network.id } };
  const access = [{ ip_address: '10.0.0.0/24', access_mode: 'rw' }];
  const id = await created({ ...form, type_name: 'standard', access }, 2);
  const { body } = await service.http.get(`${base(2)}/${id}`);
  expect(body).toMatchObject({
    type_name: 'standard',
    volume_type: 'default_share_type',
    share_settings: { type_name: 'standard' },
    network_id: network.id,
    network_name: network.name,
    subnet_id: network.subnets[0],
  });
  const { network_id, network_name, subnet_id, subnet_name } = body;
  expect(body.network).toEqual({ network_id, network_name, subnet_id, subnet_name });
  expect(body.share_settings).toEqual({ type_name: 'standard' });
  const named = await created({ ...form, network: { network_id: network.id, subnet_id: body.subnet_id } }, 2);
  expect((await service.http.get(`${base(2)}/${named}`)).body.subnet_id).toBe(body.subnet_id);
  const other = await service.http.post(base(2), {
    ...form,
    network: { network_id: network.id, subnet_id: randomUUID() },
  });
  expect(Object.keys(other.body.invalid_fields)).toEqual(['network.subnet_id']);
});

describe('creation refuses', () => {
  const network = { network_id: randomUUID() };
  test.each<[region: number, body: object, fields: string[]]>([
    [1, { name: undefined }, ['name']],
    [1, { name: 'x' }, ['name']],
    [1, { protocol: 'SMB' }, ['protocol']],
    [1, { size: 0 }, ['size']],
    [1, { size: 1_000_001 }, ['size']],
    [1, { type_name: 'fast' }, ['type_name']],
    [1, { type_name: 'standard', network }, ['type_name']],
    [2, { type_name: 'vast' }, ['type_name']],
    [3, {}, ['type_name']],
    [1, { type_name: 'vast', network, access: [] }, ['network', 'access']],
    [1, { network, access: [] }, ['type_name']],
    [1, { volume_type: 'vast_share_type' }, ['volume_type']],
    [1, { share_settings: { type_name: 'vast' } }, ['share_settings.type_name']],
    [1, { share_settings: { path_length: 'ANY' } }, ['share_settings.path_length']],
    [1, { tags: { 'a b': 'c' } }, ['tags.a b']],
    [1, { colour: 'red' }, ['colour']],
    [2, {}, ['network']],
    [2, { network }, ['network.network_id']],
    [2, { network: {} }, ['network.network_id']],
    [2, { network: { network_id: 'no-uuid' } }, ['network.network_id']],
    [2, { network, share_settings: {} }, ['share_settings']],
    [2, { network, access: [{ ip_address: 'host', access_mode: 'ro' }] }, ['access.0.ip_address']],
    [2, { network, access: [{ ip_address: '10.0.0.1/8', access_mode: 'ro' }] }, ['access.0.ip_address']],
    [
      2,
      {
        network,
        access: [
          { ip_address: 'FD00::/8', access_mode: 'ro' },
          { ip_address: 'fd00::/8', access_mode: 'rw' },
        ],
      },
      ['access.1.ip_address'],
    ],
  ])('in region %i %j', async (region, change, fields) => {
    const body = { name: 'refused', protocol: 'NFS', size: 1, ...change };
    const { status, body: answer } = await service.http.post(base(region), body);
    expect(status).toBe(400);
    expect(Object.keys(answer.invalid_fields)).toEqual(fields);
  });
});

test('lists newest first, by part of the name, by type, by page', async () => {
  const mark = randomUUID().slice(0, 8);
  const first = await created({ ...VAST, name: `one ${mark}` });
  const second = await created({ ...VAST, name: `two_${mark}` });
  const list = async (query: string) => {
    const { body } = await service.http.get(`${base(1)}?${query}`);
    return [body.count, body.results.map(({ id }: { id: string }) => id)];
  };
  expect(await list(`name=${mark}`)).toEqual([2, [second, first]]);
  expect(await list(`name=${mark}&limit=1&offset=1&type_name=vast`)).toEqual([2, [first]]);
  expect(await list(`name=_${mark}`)).toEqual([1, [second]]);
  expect(await list(`name=${mark}&type_name=standard`)).toEqual([0, []]);
  for (const query of ['type_name=fast', 'limit=0', 'colour=red']) {
    expect((await service.http.get(`${base(1)}?${query}`)).status, query).toBe(400);
  }
});

describe('deletion', () => {
  test('takes a task, and gives the quota back', async () => {
    const before = await usedQuota();
    const url = `${base(1)}/${await created({ ...VAST, name: 'short lived' })}`;
    expect(await usedQuota()).toBe(before + 1);
    const { status, body } = await service.http.delete(url);
    expect(status).toBe(200);
    const task = await service.http.task(body[0]);
    expect(task).toMatchObject({ task_type: 'delete_sfs', state: 'FINISHED', created_resources: null });
    expect((await service.http.get(url)).status).toBe(404);
    expect((await service.http.delete(url)).status).toBe(404);
    expect(await usedQuota()).toBe(before);
  });

  test('is refused while a task holds the share', async () => {
    const id = await created({ ...VAST, name: 'held by a task' });
    const taskId = randomUUID();
    await service.pool.query(`update file_shares set status = 'deleting', task_id = $1 where id = $2`, [taskId, id]);
    const { status, body } = await service.http.delete(`${base(1)}/${id}`);
    expect(status).toBe(409);
    expect(body).toMatchObject({ exception_class: 'ConflictError' });
    expect(body.message).toContain(taskId);
  });
});

test('deletion is refused while Slurm in a cluster works on the share', async () => {
  const settings = { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' };
  const id = await created({ ...VAST, name: 'for slurm', share_settings: settings });
  const key = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'slurm key' });
  const cluster = await service.http.post('/cloud/v2/k8s/clusters/1/1', {
    name: 'slurm',
    version: 'v1.32.13',
    keypair: 'slurm key',
    csi: { nfs: { vast_enabled: true } },
    pools: [
      {
        name: 'gpus',
        flavor_id: 'g2-gpu-16-64-1l40s',
        min_node_count: 1,
        boot_volume_size: 50,
        boot_volume_type: 'standard',
        servergroup_policy: 'affinity',
      },
    ],
    add_ons: {
      slurm: { enabled: true, file_share_id: id, ssh_key_ids: [key.body.id], worker_count: 1 },
    },
  });
  expect(cluster.status, cluster.text).toBe(200);
  const refused = await service.http.delete(`${base(1)}/${id}`);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain('Slurm in cluster slurm');
  expect(await service.http.task(cluster.body[0])).toMatchObject({ state: 'FINISHED' });

  const gone = await service.http.delete('/cloud/v2/k8s/clusters/1/1/slurm');
  await service.http.task(gone.body[0]);
  const freed = await service.http.delete(`${base(1)}/${id}`);
  expect(freed.status).toBe(200);
  // It gives its quota back.
  await service.http.task(freed.body[0]);
});

test('a share beyond the quota is refused and leaves nothing behind', async () => {
  const before = await usedQuota();
  await service.pool.query(
    `insert into quota_usage values (1, 1, 'sfs_count', 1000)
     on conflict (client_id, region_id, attribute) do update set used = 1000`,
  );
  const { status, body } = await service.http.post(base(1), VAST);
  expect(status).toBe(403);
  expect((await service.http.get(base(1))).body.results).not.toContainEqual(
    expect.objectContaining({ status: 'creating' }),
  );
  expect(body).toMatchObject({
    exception_class: 'QuotaLimitExceed',
    info: { attribute: 'sfs_count', current_usage: 1000, requested_usage: 1, limit: 1000 },
  });
  await service.pool.query(`update quota_usage set used = $1 where attribute = 'sfs_count' and region_id = 1`, [
    before,
  ]);
});

test('refuses everyone else', async () => {
  const id = await created({ ...VAST, name: 'mine alone' });
  const { http } = await service.otherTenant();
  const user = await service.withRole('Users');
  const calls: [method: string, path: string, body?: object][] = [
    ['POST', base(1), VAST],
    ['GET', base(1)],
    ['GET', `${base(1)}/${id}`],
    ['DELETE', `${base(1)}/${id}`],
  ];
  for (const [method, path, body] of calls) {
    const what = `${method} ${path}`;
    expect((await service.anonymous.request(method, path, { body })).status, what).toBe(401);
    expect((await http.request(method, path, { body })).status, what).toBe(404);
    if (method !== 'GET') expect((await user.request(method, path, { body })).status, what).toBe(403);
  }
  expect((await service.http.get(`${base(1)}/no-uuid`)).status).toBe(404);
  expect((await service.http.get(`${base(2)}/${id}`)).status).toBe(404);
});
