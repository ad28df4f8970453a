import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { addReseller } from '../../../../test/support/reseller.ts';
import { borrowService, type Tenant, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

const regional = (clientId = tenant.clientId, region = 1) => `/cloud/v2/regional_quotas/${clientId}/${region}`;
const global = (clientId = tenant.clientId) => `/cloud/v2/global_quotas/${clientId}`;
const threshold = (clientId = tenant.clientId) => `/cloud/v2/client_quotas/${clientId}/notification_threshold`;
const REQUESTS = '/cloud/v2/limits_request';
const UNKNOWN = 999_999;

const change = async (path: string, body: object) => {
  const answer = await service.http.patch(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const group = (name: string, by = tenant) =>
  by.http.post(`/cloud/v1/servergroups/${by.projectId}/1`, { name, policy: 'affinity' });

describe('limits of a region', () => {
  it('are those of the catalogue, with what there is', async () => {
    const { body } = await tenant.http.get(regional());
    expect(body).toMatchObject({
      region_id: 1,
      vm_count_limit: 1000,
      vm_count_usage: 0,
      volume_snapshots_count_limit: 1000,
      laas_topic_count_usage: 0,
    });
    expect(body).not.toHaveProperty('snapshot_count_limit');
    await group('one');
    expect((await tenant.http.get(regional())).body.servergroup_count_usage).toBe(1);
  });

  it('are changed by the platform administrator, hold at once, and can be given back', async () => {
    const before = (await tenant.http.get(regional())).body.servergroup_count_usage;
    const changed = await change(regional(), { servergroup_count_limit: before + 1 });
    expect(changed).toMatchObject({ servergroup_count_limit: before + 1, vm_count_limit: 1000 });
    expect((await group('two')).status).toBe(200);
    const refused = await group('three');
    expect([refused.status, refused.body.info]).toEqual([
      403,
      { attribute: 'servergroup_count', current_usage: before + 1, requested_usage: 1, limit: before + 1 },
    ]);
    await change(regional(), { servergroup_count_limit: 0 });
    expect((await tenant.http.get(regional())).body).toMatchObject({
      servergroup_count_limit: 0,
      servergroup_count_usage: before + 1,
    });
    expect((await group('three')).body.info.limit).toBe(0);
    await change(regional(), { servergroup_count_limit: null });
    expect((await group('three')).status).toBe(200);
  });

  it('are not those of another account or region', async () => {
    await change(regional(), { servergroup_count_limit: 0 });
    const other = await service.otherTenant();
    expect((await group('elsewhere', other)).status).toBe(200);
    const there = await tenant.http.post(`/cloud/v1/servergroups/${tenant.projectId}/2`, {
      name: 'elsewhere',
      policy: 'affinity',
    });
    expect(there.status, there.text).toBe(200);
    await change(regional(), { servergroup_count_limit: null });
  });

  it('are also what a question about limits tells', async () => {
    await change(regional(), { vm_count_limit: 1, volume_count_limit: 5_000 });
    const asked = await tenant.http.post(`/cloud/v2/instances/${tenant.projectId}/1/check_limits`, {
      names: ['web-1', 'web-2'],
      volumes: [BOOT_VOLUME, ...Array.from({ length: 11 }, () => ({ source: 'new-volume', size: 1 }))],
    });
    expect(asked.body).toEqual({ vm_count_limit: 1, vm_count_requested: 2, vm_count_usage: 0 });
    await change(regional(), { vm_count_limit: null, volume_count_limit: null });
  });

  it('hold for topics of logs, which are counted elsewhere', async () => {
    const at = `/cloud/v1/laas/${tenant.projectId}/1`;
    await tenant.http.patch(`${at}/status`, { is_initialized: true });
    const topic = (name: string) => tenant.http.request('PUT', `${at}/topics`, { body: { name } });
    await change(regional(), { laas_topic_count_limit: 1 });
    expect((await topic('first')).status).toBe(201);
    const refused = await topic('second');
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('is limited to 1, 1 in use')]);
    expect((await tenant.http.get(regional())).body.laas_topic_count_usage).toBe(1);
    await change(regional(), { laas_topic_count_limit: null });
    expect((await topic('second')).status).toBe(201);
  });

  it.each([
    ['nothing', {}],
    ['an unknown quota', { cpu_count_limit: 1 }],
    ['less than nothing', { vm_count_limit: -1 }],
    ['half of one', { vm_count_limit: 1.5 }],
    ['a usage', { vm_count_usage: 0 }],
  ])('are not changed to %s', async (_, body) => {
    expect((await service.http.patch(regional(), body)).status).toBe(400);
  });
});

describe('limits without a region', () => {
  it('hold for projects and SSH keys', async () => {
    const other = await service.otherTenant();
    const path = global(other.clientId);
    expect((await other.http.get(path)).body).toEqual({
      keypair_count_limit: 10_000,
      keypair_count_usage: 0,
      project_count_limit: 10_000,
      project_count_usage: 1,
    });
    await change(path, { project_count_limit: 2, keypair_count_limit: 1 });
    const project = (name: string) => other.http.post('/cloud/v1/projects', { name });
    const key = (name: string) => other.http.post(`/cloud/v1/ssh_keys/${other.projectId}`, { name });
    const statuses = async (answers: Promise<{ status: number }>[]) =>
      (await Promise.all(answers)).map(({ status }) => status).sort((one, other) => one - other);
    expect(await statuses([project('one'), project('two'), project('three')])).toEqual([201, 403, 403]);
    expect(await statuses([key('one'), key('two')])).toEqual([201, 403]);
    expect((await project('four')).body.info).toEqual({
      attribute: 'project_count',
      current_usage: 2,
      requested_usage: 1,
      limit: 2,
    });
    expect((await other.http.get(path)).body).toMatchObject({
      keypair_count_usage: 1,
      project_count_usage: 2,
    });
    await change(path, { project_count_limit: null, keypair_count_limit: null });
    expect((await project('four')).status).toBe(201);
    expect((await key('three')).status).toBe(201);
    expect((await service.http.patch(path, {})).status).toBe(400);
    expect((await service.http.patch(path, { vm_count_limit: 1 })).status).toBe(400);
  });
});

it('all quotas of an account are shown with those regions alone in which it has any', async () => {
  const other = await service.otherTenant();
  const all = async () => (await other.http.get('/cloud/v2/client_quotas')).body;
  const { global_quotas, regional_quotas } = await all();
  expect(global_quotas).toEqual((await other.http.get(global(other.clientId))).body);
  const before = regional_quotas.map(({ region_id }: { region_id: number }) => region_id);
  expect(before).not.toContain(2);
  await change(regional(other.clientId, 2), { vm_count_limit: 7 });
  expect((await all()).regional_quotas.at(-1)).toMatchObject({ region_id: 2, vm_count_limit: 7 });
});

describe('who may', () => {
  it('read them is the account and its reseller', async () => {
    const rival = await addReseller(service, 'Rival');
    const reader = await service.withRole('Users');
    for (const path of [regional(1), global(1), threshold(1)]) {
      expect((await reader.get(path)).status).toBe(200);
      expect((await tenant.http.get(path)).status).toBe(404);
      expect((await rival.http.get(path)).status).toBe(404);
      expect((await service.anonymous.get(path)).status).toBe(401);
      expect((await service.http.get(path.replace('/1', `/${UNKNOWN}`))).status).toBe(404);
    }
    const { body: resold } = await rival.http.post('/iam/clients/create', { company: 'Resold' });
    expect((await rival.http.get(regional(resold.id))).status).toBe(200);
    expect((await rival.http.patch(regional(resold.id), { vm_count_limit: 1 })).status).toBe(403);
    expect((await service.http.get(regional(1, UNKNOWN))).status).toBe(404);
  });

  it('change limits is the platform administrator alone', async () => {
    const body = { vm_count_limit: 5 };
    expect((await tenant.http.patch(regional(), body)).status).toBe(403);
    expect((await tenant.http.patch(global(), { project_count_limit: 5 })).status).toBe(403);
    expect((await tenant.http.patch(regional(1), body)).status).toBe(404);
    expect((await (await service.withRole('Engineers')).patch(regional(1), body)).status).toBe(403);
    expect((await service.anonymous.patch(regional(), body)).status).toBe(401);
    expect((await service.http.patch(regional(UNKNOWN), body)).status).toBe(404);
    expect((await service.http.patch(regional(1, UNKNOWN), body)).status).toBe(404);
    expect((await service.http.patch(global(UNKNOWN), { project_count_limit: 5 })).status).toBe(404);
  });
});

it('the percentage to warn at is kept, and forgotten', async () => {
  // What was mailed meanwhile is tested with the mails.
  const shown = { client_id: tenant.clientId, threshold: 80 };
  expect((await tenant.http.get(threshold())).body).toMatchObject(shown);
  const put = (body: object, by = tenant.http) => by.request('PUT', threshold(), { body });
  expect((await put({ threshold: 95, last_sending: null })).body).toMatchObject({ ...shown, threshold: 95 });
  expect((await put({ threshold: 60 })).body.threshold).toBe(60);
  expect((await tenant.http.get(threshold())).body.threshold).toBe(60);
  for (const wrong of [59, 101, 75.5, null]) expect((await put({ threshold: wrong })).status).toBe(400);
  const other = await service.otherTenant();
  expect((await put({ threshold: 90 }, other.http)).status).toBe(404);
  expect((await other.http.delete(threshold())).status).toBe(404);
  expect((await service.anonymous.delete(threshold())).status).toBe(401);
  expect((await (await service.withRole('Engineers')).delete(threshold(1))).status).toBe(403);
  expect((await tenant.http.delete(threshold())).status).toBe(204);
  expect((await tenant.http.delete(threshold())).status).toBe(204);
  expect((await tenant.http.get(threshold())).body).toMatchObject(shown);
});

describe('a request for other limits', () => {
  const asked = async (requested_limits: object, by = tenant) => {
    const answer = await by.http.post(REQUESTS, { description: 'we grow', requested_limits });
    expect([answer.status, answer.text]).toEqual([201, '']);
    return (await by.http.get(`${REQUESTS}?limit=1`)).body.results[0];
  };
  const decide = (id: number, status: string, by = service.http) => by.patch(`${REQUESTS}/${id}`, { status });

  it('is listed, read and deleted', async () => {
    const requested = { regional_limits: [{ region_id: 1, vm_count_limit: 2000 }] };
    const made = await asked(requested);
    expect(made).toEqual({
      id: expect.any(Number),
      client_id: tenant.clientId,
      description: 'we grow',
      requested_limits: requested,
      status: 'in progress',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await tenant.http.get(`${REQUESTS}/${made.id}`)).body).toEqual(made);
    const listed = async (query: string) =>
      (await tenant.http.get(`${REQUESTS}?${query}`)).body.results.map(({ id }: { id: number }) => id);
    expect(await listed(`request_ids=${made.id}&status=done&status=in%20progress`)).toEqual([made.id]);
    expect(await listed('status=rejected')).toEqual([]);
    expect(await listed(`request_ids=${UNKNOWN}`)).toEqual([]);
    expect(await listed('created_from=2040-01-01T00:00:00Z')).toEqual([]);
    expect(await listed('created_to=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await listed('created_from=2020-01-01T00:00:00Z')).toContain(made.id);
    expect((await tenant.http.get(`${REQUESTS}?created_to=2040-02-31T00:00:00Z`)).status).toBe(400);
    expect((await tenant.http.delete(`${REQUESTS}/${made.id}`)).status).toBe(204);
    expect((await tenant.http.get(`${REQUESTS}/${made.id}`)).status).toBe(404);
    expect((await tenant.http.delete(`${REQUESTS}/${made.id}`)).status).toBe(404);
  });

  it('is granted by the platform administrator, who sees those of all', async () => {
    const other = await service.otherTenant();
    const { id } = await asked(
      {
        global_limits: { project_count_limit: 20_000 },
        regional_limits: [{ region_id: 2, vm_count_limit: 3000, volume_snapshots_count_limit: 4 }],
      },
      other,
    );
    expect((await service.http.get(REQUESTS)).body.results[0].id).toBe(id);
    expect((await decide(id, 'done', other.http)).status).toBe(403);
    expect((await decide(id, 'in progress')).status).toBe(400);
    expect((await decide(id, 'done')).body).toMatchObject({ id, status: 'done' });
    expect((await other.http.get(global(other.clientId))).body.project_count_limit).toBe(20_000);
    expect((await other.http.get(regional(other.clientId, 2))).body).toMatchObject({
      vm_count_limit: 3000,
      volume_snapshots_count_limit: 4,
    });
    const again = await decide(id, 'rejected');
    expect([again.status, again.body.message]).toEqual([409, `Limit request ${id} is done already`]);
    expect((await decide(UNKNOWN, 'done')).status).toBe(404);
  });

  it('is rejected, which changes nothing', async () => {
    const { id } = await asked({ regional_limits: [{ region_id: 1, vm_count_limit: 3000 }] });
    expect((await decide(id, 'rejected')).body.status).toBe('rejected');
    expect((await tenant.http.get(regional())).body.vm_count_limit).toBe(1000);
  });

  it('may name quotas of the contract that nothing here counts, for official clients', async () => {
    const requested_limits = {
      global_limits: { inference_instance_count_limit: 3 },
      regional_limits: [{ region_id: 1, cpu_count_limit: 64, ram_limit: 131_072 }],
    };
    const body = { description: 'we grow', requested_limits };
    const answer = await tenant.http.post(`/gcore${REQUESTS}`, body);
    expect(answer.status, answer.text).toBe(201);
    const [made] = (await tenant.http.get(`/gcore${REQUESTS}?limit=1`)).body.results;
    expect(made.requested_limits).toEqual(requested_limits);
    const before = (await tenant.http.get(regional())).body;
    expect((await decide(made.id, 'done')).body.status).toBe('done');
    expect((await tenant.http.get(regional())).body).toEqual(before);
  });

  it.each([
    ['no limit', {}],
    ['empty limits', { global_limits: {}, regional_limits: [{ region_id: 1 }] }],
    ['an unknown region', { regional_limits: [{ region_id: UNKNOWN, vm_count_limit: 1 }] }],
    [
      'a region twice',
      {
        regional_limits: [
          { region_id: 1, vm_count_limit: 1 },
          { region_id: 1, vm_count_limit: 2 },
        ],
      },
    ],
    ['no region', { regional_limits: [{ vm_count_limit: 1 }] }],
    ['a quota that is not counted', { regional_limits: [{ region_id: 1, cpu_count_limit: 1 }] }],
  ])('is refused with %s', async (_, requested_limits) => {
    const answer = await tenant.http.post(REQUESTS, { description: 'we grow', requested_limits });
    expect(answer.status, answer.text).toBe(400);
  });

  it('is nobody else’s', async () => {
    const { id } = await asked({ global_limits: { project_count_limit: 1 } });
    const other = await service.otherTenant();
    const body = { description: 'x', requested_limits: { global_limits: { project_count_limit: 1 } } };
    expect((await other.http.get(`${REQUESTS}/${id}`)).status).toBe(404);
    expect((await other.http.delete(`${REQUESTS}/${id}`)).status).toBe(404);
    const guarded = { headers: { 'if-match': '"0"' } };
    expect((await other.http.request('DELETE', `${REQUESTS}/${id}`, guarded)).status).toBe(404);
    expect((await other.http.get(REQUESTS)).body.count).toBe(0);
    for (const [method, path] of [
      ['GET', REQUESTS],
      ['GET', `${REQUESTS}/${id}`],
      ['DELETE', `${REQUESTS}/${id}`],
    ] as const) {
      expect((await service.anonymous.request(method, path)).status).toBe(401);
    }
    expect((await service.anonymous.post(REQUESTS, body)).status).toBe(401);
    const engineer = await service.withRole('Engineers');
    expect((await engineer.post(REQUESTS, body)).status).toBe(403);
    expect((await engineer.delete(`${REQUESTS}/${id}`)).status).toBe(403);
    expect((await engineer.get(REQUESTS)).status).toBe(200);
  });
});
