import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { catalogWithQuotas, changedCatalog } from '../../../../test/support/catalogs.ts';
import { clusterParts, GPU_POOL, makeCluster, POOL } from '../../../../test/support/clusters.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { borrowService, startService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
let http: HttpClient;
beforeAll(async () => {
  service = await borrowService();
  ({ http } = service);
});
afterAll(() => service.stop());

const GROUPS = '/cloud/v1/servergroups/1/1';
const INSTANCES = '/cloud/v1/instances/1/1';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const body = (name: string, more: object = {}) => ({
  name,
  flavor: 'g1-standard-1-2',
  interfaces: [{ type: 'external' }],
  volumes: [BOOT_VOLUME],
  ...more,
});
const group = async (policy = 'anti-affinity', by = http): Promise<string> => {
  const answer = await by.post(GROUPS, { name: 'web servers', policy });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.servergroup_id;
};
async function ended(answer: { status: number; text: string; body: string[] }, by = http) {
  expect(answer.status, answer.text).toBe(200);
  return by.task(answer.body[0] ?? '');
}
const accepted = async (name: string, more: object = {}, by = http) =>
  ended(await by.post('/cloud/v2/instances/1/1', body(name, more)), by);
const instance = async (name: string, more: object = {}, by = http): Promise<string> => {
  const task = await accepted(name, more, by);
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources.instances[0];
};
const put = (id: string, servergroup_id: string, by = http) =>
  by.post(`${INSTANCES}/${id}/put_into_servergroup`, { servergroup_id });
const takeOut = (id: string, by = http) => by.post(`${INSTANCES}/${id}/remove_from_servergroup`);
const inGroup = async (id: string) =>
  (await http.get(`${GROUPS}/${id}`)).body.instances.map((one: { instance_id: string }) => one.instance_id);
const specOf = async (id: string) =>
  (await service.pool.query('select spec from wants where id = $1', [id])).rows[0]?.spec;

describe('a placement group', () => {
  it('is made at once, listed, read, and deleted by a task', async () => {
    const made = await http.post(GROUPS, { name: 'web servers', policy: 'soft-anti-affinity' });
    const id = made.body.servergroup_id;
    expect(made.body).toEqual({
      servergroup_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'web servers',
      policy: 'soft-anti-affinity',
      instances: [],
      project_id: 1,
      region: 'Port Halden',
      region_id: 1,
    });
    expect((await http.get(`${GROUPS}/${id}`)).body).toEqual(made.body);
    expect((await http.get(`${GROUPS}?limit=1`)).body.results).toEqual([made.body]);
    expect(await specOf(id)).toEqual({ name: 'web servers', policy: 'soft-anti-affinity' });
    const removal = await http.delete(`${GROUPS}/${id}`);
    expect(await ended(removal)).toMatchObject({ state: 'FINISHED', task_type: 'delete_servergroup' });
    expect((await http.get(`${GROUPS}/${id}`)).status).toBe(404);
    expect(await specOf(id)).toBeUndefined();
  });

  it.each([
    ['no policy', { name: 'web servers' }, 'policy'],
    ['an unknown policy', { name: 'web servers', policy: 'soft-affinity' }, 'policy'],
    ['no name', { policy: 'affinity' }, 'name'],
    ['a short name', { name: 'ab', policy: 'affinity' }, 'name'],
    ['a long name', { name: 'a'.repeat(111), policy: 'affinity' }, 'name'],
    ['an odd name', { name: 'web/servers', policy: 'affinity' }, 'name'],
  ])('is refused with %s', async (_, given, field) => {
    const answer = await http.post(GROUPS, given);
    expect([answer.status, Object.keys(answer.body.invalid_fields)]).toEqual([400, [field]]);
  });

  it('is refused to readers, strangers and everybody else', async () => {
    const [id, machine] = [await group(), await instance('refused')];
    const reader = await service.withRole('Users');
    expect((await reader.get(`${GROUPS}/${id}`)).status).toBe(200);
    const other = await service.otherTenant();
    for (const [by, status] of [
      [reader, 403],
      [other.http, 404],
      [service.anonymous, 401],
    ] as const) {
      expect((await by.post(GROUPS, { name: 'web servers', policy: 'affinity' })).status).toBe(status);
      expect((await by.delete(`${GROUPS}/${id}`)).status).toBe(status);
      expect((await put(machine, id, by)).status).toBe(status);
      expect((await takeOut(machine, by)).status).toBe(status);
      if (by !== reader) expect((await by.get(GROUPS)).status).toBe(status);
      if (by !== reader) expect((await by.get(`${GROUPS}/${id}`)).status).toBe(status);
    }
    expect((await http.get(`/cloud/v1/servergroups/1/2/${id}`)).status).toBe(404);
    expect((await http.delete(`${GROUPS}/${UNKNOWN}`)).status).toBe(404);
    expect((await http.get(`${GROUPS}/x`)).status).toBe(404);
  });
});

describe('instances', () => {
  it('are made in a group, and leave it when they go', async () => {
    const id = await group();
    const machine = await instance('inside', { servergroup_id: id.toUpperCase() });
    expect((await http.get(`${GROUPS}/${id}`)).body.instances).toEqual([
      { instance_id: machine, instance_name: 'inside' },
    ]);
    expect(await specOf(machine)).toMatchObject({ serverGroupId: id });
    await ended(await http.delete(`${INSTANCES}/${machine}?delete_floatings=true`));
    expect(await inGroup(id)).toEqual([]);
    expect((await http.delete(`${GROUPS}/${id}`)).status).toBe(200);
  });

  it('go on without a group that is deleted, as a Terraform provider deletes it before them', async () => {
    const [id, next] = [await group(), await group()];
    const [one, two] = await Promise.all(
      ['one of two', 'two of two'].map((name) => instance(name, { servergroup_id: id })),
    );
    if (one === undefined || two === undefined) throw new Error('no instances');
    const removal = await http.delete(`${GROUPS}/${id}`);
    expect(await ended(await http.delete(`${INSTANCES}/${two}?delete_floatings=true`))).toMatchObject({
      state: 'FINISHED',
    });
    expect(await ended(removal)).toMatchObject({ state: 'FINISHED', error: null });
    expect((await http.get(`${GROUPS}/${id}`)).status).toBe(404);
    expect(await specOf(one)).not.toHaveProperty('serverGroupId');
    expect((await http.get(`${INSTANCES}/${one}`)).body).toMatchObject({ status: 'ACTIVE', task_id: null });
    expect(await ended(await put(one, next))).toMatchObject({ state: 'FINISHED', error: null });
  });

  it('keep their group while tasks hold them', async () => {
    const id = await group();
    const machine = await instance('busy', { servergroup_id: id });
    const hold = (task: string | null) =>
      service.pool.query('update instances set task_id = $2 where id = $1', [machine, task]);
    await hold(UNKNOWN);
    const refused = await http.delete(`${GROUPS}/${id}`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `Instance ${machine} in placement group ${id} is held by task ${UNKNOWN}; wait until it ends`,
    ]);
    expect(await inGroup(id)).toEqual([machine]);
    await hold(null);
    expect(await ended(await http.delete(`${GROUPS}/${id}`))).toMatchObject({ state: 'FINISHED' });
  });

  it('are put into one and removed from it', async () => {
    const [id, machine] = [await group(), await instance('moving')];
    expect(await ended(await put(machine, id))).toMatchObject({
      state: 'FINISHED',
      task_type: 'put_into_server_group',
      data: { instance_id: machine, servergroup_id: id },
    });
    expect(await inGroup(id)).toEqual([machine]);
    expect(await specOf(machine)).toMatchObject({ serverGroupId: id });
    const again = await put(machine, await group());
    expect([again.status, again.body.message]).toEqual([
      409,
      `Instance ${machine} is in placement group ${id}; remove it from there first`,
    ]);
    expect(await ended(await takeOut(machine))).toMatchObject({
      state: 'FINISHED',
      task_type: 'remove_from_server_group',
    });
    expect(await inGroup(id)).toEqual([]);
    expect(await specOf(machine)).not.toHaveProperty('serverGroupId');
    expect((await takeOut(machine)).status).toBe(409);
    expect((await http.get(`${INSTANCES}/${machine}`)).body).toMatchObject({
      status: 'ACTIVE',
      task_state: null,
    });
  });

  it('are refused for an unknown group, one that is going, bare metal, and while a task holds them', async () => {
    const [id, machine] = [await group(), await instance('held')];
    const unknown = await put(machine, UNKNOWN);
    expect([unknown.status, unknown.body.invalid_fields]).toEqual([
      400,
      { servergroup_id: [`No placement group ${UNKNOWN} in this project and region.`] },
    ]);
    expect((await put(machine, 'x')).status).toBe(400);
    expect((await put(UNKNOWN, id)).status).toBe(404);
    expect((await takeOut(UNKNOWN)).status).toBe(404);
    const created = await http.post('/cloud/v2/instances/1/1', body('x-1', { servergroup_id: UNKNOWN }));
    expect([created.status, Object.keys(created.body.invalid_fields)]).toEqual([400, ['servergroup_id']]);
    const metal = body('x-1', { servergroup_id: id, flavor: 'bm3-ai-8xlarge-gpu-h100-8' });
    const refused = await http.post('/cloud/v2/instances/1/1', metal);
    expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, ['servergroup_id']]);

    await service.pool.query('update server_groups set task_id = gen_random_uuid() where id = $1', [id]);
    expect((await put(machine, id)).status).toBe(409);
    expect((await http.delete(`${GROUPS}/${id}`)).status).toBe(409);
    await service.pool.query('update server_groups set task_id = null where id = $1', [id]);
    await service.pool.query('update instances set task_id = gen_random_uuid() where id = $1', [machine]);
    expect([(await put(machine, id)).status, (await takeOut(machine)).status]).toEqual([409, 409]);
    await service.pool.query(
      `update instances set task_id = null, flavor_id = 'bm3-ai-8xlarge-gpu-h100-8' where id = $1`,
      [machine],
    );
    expect([(await put(machine, id)).status, (await takeOut(machine)).status]).toEqual([409, 409]);
  });
});

describe('a pool', () => {
  it('has a group of its own, with its nodes, as long as it exists', async () => {
    const parts = await clusterParts(service);
    const used = async () =>
      (await service.pool.query(`select used from quota_usage where attribute = 'servergroup_count'`)).rows[0]?.used ??
      0;
    const before = Number(await used());
    const cluster = await makeCluster(http, parts.body({ pools: [{ ...POOL, min_node_count: 2 }, GPU_POOL] }));
    const [web, gpu] = cluster.pools;
    expect(gpu).toMatchObject({ servergroup_id: '', servergroup_name: '', servergroup_policy: '' });
    expect(web).toMatchObject({
      servergroup_name: `${cluster.name}-${POOL.name}`,
      servergroup_policy: POOL.servergroup_policy,
    });
    const id = web.servergroup_id;
    const pools = `/cloud/v2/k8s/clusters/1/1/${cluster.name}/pools`;
    const nodes = (await http.get(`${pools}/${POOL.name}/instances`)).body.results;
    expect((await http.get(`${pools}/${POOL.name}`)).body.servergroup_id).toBe(id);
    expect(new Set(await inGroup(id))).toEqual(new Set(nodes.map((node: { id: string }) => node.id)));
    expect(await inGroup(id)).toHaveLength(2);
    expect(Number(await used())).toBe(before + 1);

    expect((await http.delete(`${GROUPS}/${id}`)).body.message).toContain('belongs to pool');
    expect((await put(await instance('stranger'), id)).status).toBe(409);
    expect((await put(nodes[0].id, await group())).status).toBe(409);
    const added = await ended(await http.post(pools, { ...POOL, name: 'more', min_node_count: 1 }));
    expect(added.state).toBe('FINISHED');
    expect(Number(await used())).toBe(before + 3);
    await ended(await http.delete(`${pools}/more`));
    expect(Number(await used())).toBe(before + 2);
    await ended(await http.delete(`/cloud/v2/k8s/clusters/1/1/${cluster.name}`));
    expect((await http.get(`${GROUPS}/${id}`)).status).toBe(404);
    expect(Number(await used())).toBe(before + 1);
  });
});

it('cannot be more than the quota', async () => {
  const catalog = catalogWithQuotas({ servergroup_count: 1 });
  const small = await startService({ TRADEWIND_CATALOG_DIR: catalog });
  try {
    const id = await group('affinity', small.http);
    const refused = await small.http.post(GROUPS, { name: 'web servers', policy: 'affinity' });
    expect([refused.status, refused.body.info?.attribute]).toEqual([403, 'servergroup_count']);
    const pool = { flavor_id: POOL.flavor_id };
    const asked = await small.http.post('/cloud/v2/k8s/clusters/1/1/pools/check_limits', pool);
    expect(asked.body).toEqual({
      servergroup_count_limit: 1,
      servergroup_count_requested: 1,
      servergroup_count_usage: 1,
    });
    await ended(await small.http.delete(`${GROUPS}/${id}`), small.http);
    await group('affinity', small.http);
  } finally {
    await small.stop();
    fs.rmSync(catalog, { recursive: true });
  }
});

it("another account's is not found, whoever works on its instances", async () => {
  const id = await group();
  await instance('member', { servergroup_id: id });
  const other = await service.otherTenant();
  const client = await service.pool.connect();
  try {
    await client.query('begin');
    await client.query(
      'select from instances where id in (select instance_id from server_group_members where server_group_id = $1) for update',
      [id],
    );
    const path = `/cloud/v1/servergroups/${other.projectId}/1/${id}`;
    expect((await other.http.delete(path)).status).toBe(404);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

it('runs its instances on as many hosts as its policy wants, if the catalogue says how many there are', async () => {
  const catalog = changedCatalog('backends.yaml', ({ backends = [] }) => ({
    backends: backends.map((one) => ({ ...one, settings: { hosts: 2 } })),
  }));
  const small = await startService({ TRADEWIND_CATALOG_DIR: catalog });
  const hosts = async (id: string) =>
    (
      await small.pool.query('select host from simulated_hosts where server_group_id = $1 order by host', [id])
    ).rows.map(({ host }) => host);
  try {
    const [apart, together] = [await group('anti-affinity', small.http), await group('affinity', small.http)];
    const [first] = await Promise.all([
      instance('a-1', { servergroup_id: apart }, small.http),
      instance('a-2', { servergroup_id: apart }, small.http),
      instance('t-1', { servergroup_id: together }, small.http),
      instance('t-2', { servergroup_id: together }, small.http),
    ]);
    expect(await hosts(apart)).toEqual([0, 1]);
    expect(new Set(await hosts(together)).size).toBe(1);
    const third = await accepted('a-3', { servergroup_id: apart }, small.http);
    expect(third).toMatchObject({
      state: 'ERROR',
      error: expect.stringContaining('No valid host was found'),
    });
    const alone = await instance('alone', {}, small.http);
    expect(await ended(await put(alone, apart, small.http), small.http)).toMatchObject({ state: 'ERROR' });
    const { instances } = (await small.http.get(`${GROUPS}/${apart}`)).body;
    expect(instances.map((one: { instance_name: string }) => one.instance_name)).toEqual(['a-1', 'a-2']);
    await ended(await takeOut(first, small.http), small.http);
    expect(await ended(await put(alone, apart, small.http), small.http)).toMatchObject({ state: 'FINISHED' });
    expect(await hosts(apart)).toEqual([0, 1]);
  } finally {
    await small.stop();
    fs.rmSync(catalog, { recursive: true });
  }
});
