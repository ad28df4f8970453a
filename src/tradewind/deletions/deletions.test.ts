import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenInvariants } from '../../../test/acceptance/concurrency/invariants.ts';
import { activateAiFeatures, createAiTask } from '../../../test/support/ai-tasks.ts';
import { furnish } from '../../../test/support/furnishing.ts';
import { platformOn } from '../../../test/support/platform.ts';
import { addReseller } from '../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../test/support/service.ts';
import { TABLES_OF_PROJECTS } from '../../cloud/ground/projects/in-transaction.ts';
import { openDatabase } from '../../db/database.ts';
import { newTaskId } from '../../lib/ids.ts';
import { KINDS } from './work/kinds.ts';
import { emptyProject } from './work/project.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());

const CLIENTS = '/tradewind/v1/clients';
const PROJECTS = '/tradewind/v1/projects';

const rows = async (query: string, values: unknown[] = []) => (await service.pool.query(query, values)).rows;
const leftOf = async (projectId: number) => {
  const tables = [...TABLES_OF_PROJECTS, 'projects', 'wants'];
  const counts = await rows(
    tables
      .map(
        (table) =>
          `select '${table}' as table, count(*)::int from ${table} where ${table === 'projects' ? 'id' : 'project_id'} = ${projectId}`,
      )
      .join(' union all '),
  );
  return counts.filter(({ count }) => count > 0);
};

const eventsOf = async (type: string, clientId: number) =>
  rows('select subject from events where type = $1 and client_id = $2', [type, clientId]);

async function deleted(clientId: number, http = service.http): Promise<string> {
  const asked = await http.post(`${CLIENTS}/${clientId}/deletion`, {});
  expect(asked.status, asked.text).toBe(200);
  expect(asked.body.task_id).toBeNull();
  const { confirmation } = asked.body;
  const begun = await http.post(`${CLIENTS}/${clientId}/deletion`, { confirmation });
  expect(begun.status, begun.text).toBe(200);
  return begun.body.task_id;
}

it('knows how to delete every kind that projects keep', () => {
  const known = KINDS.map(({ rows }) => rows.split(' ', 1)[0]);
  expect(TABLES_OF_PROJECTS.filter((table) => !known.includes(table))).toEqual([]);
});

describe('an account that is deleted', () => {
  it('takes everything with it but what was used and who did what', async () => {
    const tenant = await service.otherTenant();
    const second = (await tenant.http.post('/cloud/v1/projects', { name: 'second' })).body.id;
    await furnish(tenant.http, tenant.projectId);
    await furnish(tenant.http, second, { clusters: false });
    await activateAiFeatures(service.http, tenant.clientId);
    await createAiTask(tenant.http, {
      task_name: 'transcription',
      url: 'https://media.example.com/a.mp4',
    });
    await tenant.http.post('/tradewind/v1/webhooks', {
      url: 'https://hooks.example.com/in',
      types: ['tradewind.*'],
    });
    expect((await tenant.http.post('/tradewind/v1/deletion_request', {})).status).toBe(201);
    await service.pool.query(
      `insert into quota_warnings (client_id, region_id, attribute, used, most, noted_at)
       values ($1, 1, 'volume_count', 9, 10, now())`,
      [tenant.clientId],
    );

    const asked = await service.http.post(`${CLIENTS}/${tenant.clientId}/deletion`, {});
    expect(asked.body).toMatchObject({
      client_id: tenant.clientId,
      confirmation: expect.any(String),
      confirm_until: expect.any(String),
      task_id: null,
    });
    expect(asked.body.contents).toEqual(
      expect.arrayContaining([
        { kind: 'projects', count: 2 },
        { kind: 'instances', count: 2 },
        { kind: 'Kubernetes clusters', count: 1 },
        { kind: 'AI tasks', count: 1 },
        { kind: 'API tokens', count: 1 },
        { kind: 'users', count: 1 },
      ]),
    );
    // Nothing has changed.
    expect((await tenant.http.get('/cloud/v1/projects')).status).toBe(200);

    const taskId = await deleted(tenant.clientId);
    // Shut at once.
    const refused = await tenant.http.get('/cloud/v1/projects');
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('suspended')]);
    expect((await service.http.post(`${CLIENTS}/${tenant.clientId}/resume`)).status).toBe(409);
    expect((await service.http.post(`${CLIENTS}/${tenant.clientId}/deletion`, {})).status).toBe(409);
    const group = { security_group: { name: 'too late' } };
    expect((await service.http.post(`/cloud/v1/securitygroups/${second}/1`, group)).status).toBe(409);
    expect((await service.http.post(`/tradewind/v1/tasks/${taskId}/cancel`)).status).toBe(409);

    const task = await service.http.task(taskId, 120_000);
    expect(task).toMatchObject({
      task_type: 'delete_client',
      state: 'FINISHED',
      error: null,
      client_id: 1,
      project_id: null,
      data: { client_id: tenant.clientId },
    });
    for (const project of [second, tenant.projectId]) await expect.poll(() => leftOf(project)).toEqual([]);
    const { body } = await service.http.get(`/tradewind/v1/tasks/${taskId}/steps`);
    expect(body.done).toBe(body.of);
    expect(body.steps).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'cluster', id: String(tenant.projectId), state: 'removed' }),
        expect.objectContaining({ kind: 'volume', id: String(second), state: 'removed' }),
      ]),
    );

    expect((await service.http.get(`/iam/clients/${tenant.clientId}`)).body).toMatchObject({
      deleted: true,
      status: 'paused',
    });
    expect((await service.http.post(`${CLIENTS}/${tenant.clientId}/suspend`)).status).toBe(404);
    expect((await tenant.http.get('/cloud/v1/projects')).status).toBe(401);
    const of = [tenant.clientId];
    const gone = ['ai_tasks', 'webhooks', 'client_users', 'quota_usage', 'quota_warnings', 'login_sessions'];
    for (const table of [...gone, 'deletion_requests'])
      expect(await rows(`select from ${table} where client_id = $1`, of), table).toEqual([]);
    expect(await rows('select from users where client_id = $1 and deleted_at is null', of)).toEqual([]);
    expect(await rows('select from api_tokens where client_id = $1 and deleted_at is null', of)).toEqual([]);
    const used = await rows('select ended_at from usage_periods where client_id = $1', of);
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter(({ ended_at }) => ended_at === null)).toEqual([]);
    expect((await rows('select from user_actions where client_id = $1', of)).length).toBeGreaterThan(20);
    expect(await eventsOf('tradewind.volume.deleted', tenant.clientId)).not.toEqual([]);
    expect(await eventsOf('tradewind.cluster.deleted', tenant.clientId)).toHaveLength(1);
    expect(await eventsOf('tradewind.project.deleted', tenant.clientId)).toHaveLength(2);
    expect(await eventsOf('tradewind.client.deleted', tenant.clientId)).toEqual([
      { subject: `client/${tenant.clientId}` },
    ]);
    // What projects came with goes in the background.
    await expect.poll(() => brokenInvariants(service.pool), { interval: 200 }).toEqual([]);
  }, 240_000);

  it('leaves a confirmation nowhere in the database', async () => {
    const { clientId } = await service.otherTenant();
    const path = `${CLIENTS}/${clientId}/deletion`;
    const headers = { 'idempotency-key': `delete-${clientId}` };
    const { confirmation } = (await service.http.request('POST', path, { body: {}, headers })).body;
    const kept = await rows(
      `select kept::text as text from deletion_confirmations kept
       union all select kept::text from idempotency_keys kept union all select kept::text from user_actions kept`,
    );
    expect(kept.length).toBeGreaterThan(2);
    expect(kept.filter(({ text }) => text.includes(confirmation))).toEqual([]);
    expect((await service.http.post(path, { confirmation })).status).toBe(200);
  });

  it('needs the confirmation that the same user was given, in time and for this account', async () => {
    const [one, other] = [await service.otherTenant(), await service.otherTenant()];
    const send = (clientId: number, confirmation?: string, http = service.http) =>
      http.post(`${CLIENTS}/${clientId}/deletion`, { ...(confirmation !== undefined && { confirmation }) });
    expect((await send(one.clientId, 'guessed')).status).toBe(400);
    const { confirmation } = (await send(one.clientId)).body;
    expect((await send(one.clientId, 'guessed')).status).toBe(400);
    expect((await send(other.clientId, confirmation)).status).toBe(400);
    const later = `update deletion_confirmations set expires_at = now() - interval '1 second', user_id = user_id`;
    await service.pool.query(later);
    expect((await send(one.clientId, confirmation)).status).toBe(400);
    const again = (await send(one.clientId)).body.confirmation;
    await service.pool.query('update deletion_confirmations set user_id = user_id + 1');
    expect((await send(one.clientId, again)).status).toBe(400);
    await service.pool.query('update deletion_confirmations set user_id = user_id - 1');
    expect(await service.http.task((await send(one.clientId, again)).body.task_id)).toMatchObject({
      state: 'FINISHED',
    });
    expect((await other.http.get('/cloud/v1/projects')).status).toBe(200);
  });

  it("is a reseller's own client, and not the caller's or a reseller's account", async () => {
    const reseller = await addReseller(service, 'Deleting');
    const tenant = await service.otherTenant();
    expect((await reseller.http.post(`${CLIENTS}/${tenant.clientId}/deletion`, {})).status).toBe(404);
    expect((await reseller.http.post(`${CLIENTS}/${reseller.clientId}/deletion`, {})).status).toBe(409);
    expect((await service.http.post(`${CLIENTS}/${reseller.clientId}/deletion`, {})).status).toBe(409);
    expect((await service.http.post(`${CLIENTS}/1/deletion`, {})).status).toBe(409);
    expect((await service.http.post(`${CLIENTS}/999999/deletion`, {})).status).toBe(404);
    expect((await tenant.http.post(`${CLIENTS}/${tenant.clientId}/deletion`, {})).status).toBe(403);
    const own = (await reseller.http.post('/iam/clients/create', { company: 'Mine' })).body.id;
    const taskId = await deleted(own, reseller.http);
    // The task is that of the reseller, who can follow it.
    expect(await reseller.http.task(taskId)).toMatchObject({
      state: 'FINISHED',
      client_id: reseller.clientId,
    });
  });
});

describe('what is added while an account is deleted', () => {
  const waiting = async (many: number) =>
    expect
      .poll(
        async () =>
          (await rows("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"))
            .length,
      )
      .toBe(many);

  it('goes too, if it was on its way before', async () => {
    const tenant = await service.otherTenant();
    const late = await service.pool.connect();
    try {
      await late.query('begin');
      await late.query(
        `insert into projects (client_id, name, is_default, created_at) values ($1, 'late', false, now())`,
        [tenant.clientId],
      );
      const taskId = await deleted(tenant.clientId);
      // All else is gone by then.
      await waiting(1);
      await late.query('commit');
      expect(await service.http.task(taskId)).toMatchObject({ state: 'FINISHED' });
    } finally {
      late.release(true);
    }
    expect(await rows('select from projects where client_id = $1', [tenant.clientId])).toEqual([]);
  });

  it('is refused', async () => {
    const tenant = await service.otherTenant();
    const { clientId } = tenant;
    const { confirmation } = (await service.http.post(`${CLIENTS}/${clientId}/deletion`, {})).body;
    const busy = await service.pool.connect();
    try {
      await busy.query('begin');
      await busy.query('select from clients where id = $1 for no key update', [clientId]);
      const begun = service.http.post(`${CLIENTS}/${clientId}/deletion`, { confirmation });
      await waiting(1);
      // The account is still open for all of these, but they come second.
      const project = tenant.http.post('/cloud/v1/projects', { name: 'late' });
      await waiting(2);
      const email = `late-${clientId}@example.com`;
      const user = { username: email, password: 'many small green apples', user_role: { name: 'Users' } };
      const added = service.http.post(`/iam/clients/${clientId}/client-users/create`, user);
      await waiting(3);
      const invitation = { email, client_id: clientId, user_role: { name: 'Users' } };
      const invited = service.http.post('/iam/clients/invite_user', invitation);
      await waiting(4);
      const token = { name: 'late', exp_date: null, client_user: { role: { name: 'Users' } } };
      const given = service.http.post(`/iam/clients/${clientId}/tokens`, token);
      await waiting(5);
      await busy.query('commit');
      expect((await begun).status).toBe(200);
      for (const refused of await Promise.all([project, added, invited, given])) {
        // The account may be gone by then.
        expect([409, 404], refused.text).toContain(refused.status);
      }
      await service.http.task((await begun).body.task_id);
    } finally {
      busy.release(true);
    }
  });
});

describe('a project that is deleted with everything in it', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await service.otherTenant();
  });
  const project = async (name: string): Promise<number> =>
    (await tenant.http.post('/cloud/v1/projects', { name })).body.id;

  it('takes nothing in, says how far it is, and goes', async () => {
    const id = await project('full');
    await furnish(tenant.http, id, { clusters: false });
    expect((await tenant.http.delete(`${PROJECTS}/${id}`)).status).toBe(409);
    expect((await tenant.http.delete(`${PROJECTS}/${id}?contents=false`)).status).toBe(409);
    const begun = await tenant.http.delete(`${PROJECTS}/${id}?contents=true`);
    expect(begun.status, begun.text).toBe(200);
    const { task_id } = begun.body;
    expect((await tenant.http.delete(`${PROJECTS}/${id}?contents=true`)).status).toBe(409);
    const late = { source: 'new-volume', name: 'too late', size: 1 };
    const refused = await tenant.http.post(`/cloud/v1/volumes/${id}/1`, late);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(task_id)]);
    expect(await tenant.http.task(task_id, 60_000)).toMatchObject({
      task_type: 'delete_project_with_contents',
      state: 'FINISHED',
      project_id: id,
      client_id: tenant.clientId,
    });
    await expect.poll(() => leftOf(id)).toEqual([]);
    const quotas = await rows('select * from quota_usage where client_id = $1 and used <> 0', [tenant.clientId]);
    expect(quotas).toEqual([]);
    expect((await tenant.http.get('/cloud/v1/projects')).body.count).toBe(1);
  });

  it('shows meanwhile that it goes, and what it waits for', async () => {
    const id = await project('held');
    const rule = { task: 'create_volume', name: 'slow', do: { hold: true } };
    const { body: held } = await service.http.post('/tradewind/v1/test/faults', rule);
    await tenant.http.post(`/cloud/v1/volumes/${id}/1`, { source: 'new-volume', name: 'slow', size: 1 });
    const { task_id } = (await tenant.http.delete(`${PROJECTS}/${id}?contents=true`)).body;
    const shown = (await tenant.http.get(`/cloud/v1/projects/${id}`)).body;
    expect(shown).toMatchObject({ state: 'DELETING', task_id });
    const steps = async () => (await tenant.http.get(`/tradewind/v1/tasks/${task_id}/steps`)).body.steps;
    await expect
      .poll(steps)
      .toMatchObject([{ kind: 'volume', id: String(id), state: 'doing', doing: '1 left', failures: 0, history: [] }]);
    // What is just being made is finished first.
    await service.http.delete(`/tradewind/v1/test/faults/${held.id}`);
    expect(await tenant.http.task(task_id)).toMatchObject({ state: 'FINISHED' });
  });

  it('works without contents as well', async () => {
    const id = await project('empty');
    const { task_id } = (await tenant.http.delete(`${PROJECTS}/${id}`)).body;
    expect(await tenant.http.task(task_id)).toMatchObject({ task_type: 'delete_project', state: 'FINISHED' });
    const other = await project('empty too');
    const again = (await tenant.http.delete(`${PROJECTS}/${other}?contents=true`)).body.task_id;
    expect(await tenant.http.task(again)).toMatchObject({ state: 'FINISHED' });
  });

  it('loses what can go, however much has to wait', async () => {
    const id = await project('much in a former region');
    await service.pool.query(
      `insert into server_groups (id, project_id, region_id, name, policy, created_at)
       select gen_random_uuid(), $1, 0, 'group ' || number, 'affinity', now() from generate_series(1, 60) as number`,
      [id],
    );
    const group = { name: 'last', policy: 'affinity' };
    const made = await tenant.http.post(`/cloud/v1/servergroups/${id}/1`, group);
    expect(made.status, made.text).toBe(200);
    const { task_id } = (await tenant.http.delete(`${PROJECTS}/${id}?contents=true`)).body;
    const others = () => rows('select from server_groups where project_id = $1 and region_id <> 0', [id]);
    await expect.poll(others).toEqual([]);
    await expect
      .poll(async () => (await tenant.http.get(`/tradewind/v1/tasks/${task_id}/steps`)).text)
      .toContain('region 0 is not in the catalogue any more');
    await service.pool.query('delete from server_groups where project_id = $1', [id]);
    expect(await tenant.http.task(task_id)).toMatchObject({ state: 'FINISHED' });
  });

  it('stays if the deletion was taken back', async () => {
    const id = await project('kept after all');
    const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
    const former = {
      taskId: newTaskId(),
      clientId: tenant.clientId,
      projectId: id,
      claims: 1,
      steps: [],
      userId: 1,
      userClientId: 1,
      requestId: '',
    };
    try {
      await emptyProject(platformOn(database), former, id, new AbortController().signal);
    } finally {
      await database.close();
    }
    expect((await tenant.http.get(`/cloud/v1/projects/${id}`)).status).toBe(200);
    await tenant.http.delete(`${PROJECTS}/${id}`);
  });

  it('is neither the default one nor that of somebody else', async () => {
    expect((await tenant.http.delete(`${PROJECTS}/${tenant.projectId}?contents=true`)).status).toBe(409);
    expect((await tenant.http.delete(`${PROJECTS}/1?contents=true`)).status).toBe(404);
    expect((await tenant.http.delete(`${PROJECTS}/1`)).status).toBe(404);
  });
});

it('goes on where a dead worker stopped', async () => {
  const tenant = await service.otherTenant();
  const task = await service.http.post(`${CLIENTS}/${tenant.clientId}/deletion`, {});
  const { confirmation } = task.body;
  // As if it had been claimed at once, by a worker that died.
  await service.pool.query(`
    create function claimed_by_the_dead() returns trigger language plpgsql as $$
    begin new.worker_id = gen_random_uuid(); return new; end $$;
    create trigger claimed_by_the_dead before insert on deletions
      for each row execute function claimed_by_the_dead()`);
  try {
    const begun = await service.http.post(`${CLIENTS}/${tenant.clientId}/deletion`, { confirmation });
    expect(await service.http.task(begun.body.task_id, 30_000)).toMatchObject({ state: 'FINISHED' });
  } finally {
    await service.pool.query('drop function claimed_by_the_dead cascade');
  }
});
