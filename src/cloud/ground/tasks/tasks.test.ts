import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type Tenant, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

/** Starts a task of the second account that takes longer than any test. */
async function busy(): Promise<string> {
  const body = { source: 'new-volume', name: 'busy volume', size: 1 };
  const answer = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body[0];
}

/** Inserts a task of the second account that has ended. */
async function put(task: { type?: string; state?: string; on?: string; region?: number; clientId?: number } = {}) {
  const id = randomUUID();
  const state = task.state ?? 'FINISHED';
  await service.pool.query(
    `insert into tasks (id, task_type, state, client_id, user_id, user_client_id, project_id, region_id, data, error,
       created_on, finished_on, deadline_at)
     values ($1, $2, $3, $4, 1, $4, $5, $6, '{}', $7, $8, $9, now() + interval '1 hour')`,
    [
      id,
      task.type ?? 'create_volume',
      state,
      task.clientId ?? tenant.clientId,
      tenant.projectId,
      task.region ?? 1,
      state === 'ERROR' ? 'broken' : null,
      task.on ?? '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:01Z',
    ],
  );
  return id;
}

const ids = (answer: { body: { results: { id: string }[] } }) => answer.body.results.map(({ id }) => id);

describe('GET /cloud/v1/tasks', () => {
  let old: string;
  let failed: string;
  let fresh: string;
  beforeAll(async () => {
    old = await put({ on: '2026-02-01T10:00:00.700Z', type: 'list_a' });
    failed = await put({ on: '2026-02-02T10:00:00Z', type: 'list_b', state: 'ERROR' });
    fresh = await put({ on: '2026-02-03T10:00:00Z', type: 'list_a', region: 2 });
  });
  const list = async (query: string) => ids(await tenant.http.get(`/cloud/v1/tasks?${query}`));

  it('answers the newest first, and the other way round when asked', async () => {
    const since = 'from_timestamp=2026-02-01T00:00:00Z&to_timestamp=2026-02-04T00:00:00Z';
    expect(await list(since)).toEqual([fresh, failed, old]);
    expect(await list(`${since}&order_by=asc`)).toEqual([old, failed, fresh]);
    expect(await list(`${since}&sorting=asc`)).toEqual([old, failed, fresh]);
    expect(await list(`${since}&sorting=asc&order_by=desc`)).toEqual([fresh, failed, old]);
  });

  it('filters by each parameter, and by several values of one', async () => {
    expect(await list('task_type=list_a')).toEqual([fresh, old]);
    expect(await list('task_type=list_a&region_id=2')).toEqual([fresh]);
    expect(await list('task_type=list_a&region_id=1&region_id=2')).toEqual([fresh, old]);
    expect(await list(`task_type=list_a&project_id=${tenant.projectId}`)).toEqual([fresh, old]);
    expect(await list('task_type=list_a&project_id=1')).toEqual([]);
    expect(await list('task_type=list_b&state=ERROR')).toEqual([failed]);
    expect(await list('task_type=list_b&state=NEW&state=ERROR')).toEqual([failed]);
    expect(await list('task_type=list_b&state=NEW')).toEqual([]);
  });

  it('takes the times that it shows, inclusive', async () => {
    const { body } = await tenant.http.get(`/cloud/v1/tasks/${old}`);
    const at = body.created_on;
    expect(await list(`task_type=list_a&from_timestamp=${at}&to_timestamp=${at}`)).toEqual([old]);
    expect(await list('task_type=list_a&to_timestamp=2026-02-01T10:00:00.699Z')).toEqual([]);
    expect(await list('task_type=list_a&to_timestamp=2026-02-01T12:00:00%2B02:00')).toEqual([old]);
  });

  it('counts all that match and answers one page', async () => {
    const { body } = await tenant.http.get('/cloud/v1/tasks?task_type=list_a&limit=1&offset=1');
    expect(body.count).toBe(2);
    expect(body.results).toMatchObject([{ id: old }]);
  });

  it('shows no task of another account', async () => {
    const foreign = await put({ type: 'list_foreign', clientId: 1 });
    expect(await list('task_type=list_foreign')).toEqual([]);
    expect((await tenant.http.get(`/cloud/v1/tasks/${foreign}`)).status).toBe(404);
  });

  it.each(['state=DONE', 'from_timestamp=yesterday', 'to_timestamp=2026-02-31T25:00:00Z', 'order_by=up', 'limit=0'])(
    'refuses %s',
    async (query) => {
      const answer = await tenant.http.get(`/cloud/v1/tasks?${query}`);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.invalid_fields)[0]).toMatch(new RegExp(`^${query.split('=')[0]}`));
    },
  );
});

describe('GET /cloud/v1/tasks/{project_id}/{region_id}/active', () => {
  it('answers what has not ended in that project and region', async () => {
    const [older, newer] = [await busy(), await busy()];
    await put();
    const active = async (region: number, query = '') =>
      ids(await tenant.http.get(`/cloud/v1/tasks/${tenant.projectId}/${region}/active${query}`));
    expect(await active(1)).toEqual([newer, older]);
    expect(await active(2)).toEqual([]);
    expect(await active(1, '?task_type=create_volume&task_type=create_vm')).toEqual([newer, older]);
    expect(await active(1, '?task_type=create_vm')).toEqual([]);
    expect(await active(1, '?limit=1&offset=1')).toEqual([older]);
  });
});

describe('acknowledgement', () => {
  it('of one task names who and when, and keeps both', async () => {
    const id = await put({ state: 'ERROR' });
    const answer = await tenant.http.post(`/cloud/v1/tasks/${id}/acknowledge`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ id, acknowledged_by: expect.any(Number) });
    expect(answer.body.acknowledged_at).toMatch(/^\d{4}-/);
    expect((await service.http.post(`/cloud/v1/tasks/${id}/acknowledge`)).body).toEqual(answer.body);
  });

  it('of all leaves out what has not ended, and what lies elsewhere', async () => {
    const [here, there, running] = [await put({ region: 1 }), await put({ region: 2 }), await busy()];
    const left = async () => {
      const unseen = ids(await tenant.http.get('/cloud/v1/tasks?is_acknowledged=false&limit=1000'));
      return [here, there, running].filter((id) => unseen.includes(id));
    };
    const place = `project_id=${tenant.projectId}&region_id=1`;
    expect((await tenant.http.post(`/cloud/v1/tasks/acknowledge_all?${place}`)).status).toBe(204);
    expect(await left()).toEqual([there, running]);
    expect((await tenant.http.post('/cloud/v1/tasks/acknowledge_all')).status).toBe(204);
    expect(await left()).toEqual([running]);
    expect(ids(await tenant.http.get('/cloud/v1/tasks?is_acknowledged=true&limit=1000'))).toContain(here);
  });

  it('by ids takes all of them or none', async () => {
    const [one, other] = [await put(), await put()];
    const foreign = await put({ clientId: 1 });
    const at = async (id: string) => (await tenant.http.get(`/v1/tasks/${id}`)).body.acknowledged_at;
    const refused = await tenant.http.post('/cloud/v1/tasks/acknowledge', { task_ids: [one, foreign] });
    expect(refused.status).toBe(400);
    expect(refused.body.invalid_fields.task_ids[0]).toContain(foreign);
    expect(await at(one)).toBeNull();
    const taken = await tenant.http.post('/cloud/v1/tasks/acknowledge', { task_ids: [one.toUpperCase()] });
    expect(taken.status, taken.text).toBe(204);
    expect([await at(one), await at(other)]).toEqual([expect.any(String), null]);
    await tenant.http.post('/cloud/v1/tasks/acknowledge', { task_ids: null });
    expect(await at(other)).toEqual(expect.any(String));
  });

  it('is for those who operate', async () => {
    const reader = await service.withRole('Users');
    expect((await reader.post(`/cloud/v1/tasks/${randomUUID()}/acknowledge`)).status).toBe(403);
  });
});
