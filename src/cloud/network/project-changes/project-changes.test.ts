import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type Tenant, type TestService } from '../../../../test/support/service.ts';
import { TABLES_OF_PROJECTS } from '../../ground/projects/in-transaction.ts';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

const BASE = '/cloud/v1/projects';
let count = 0;

async function made(): Promise<{ id: number; name: string }> {
  const answer = await tenant.http.post(BASE, { name: `project ${++count}`, description: 'for tests' });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

describe('a new project', () => {
  it('is ready for use', async () => {
    const project = await made();
    expect(project).toMatchObject({
      description: 'for tests',
      client_id: tenant.clientId,
      is_default: false,
      state: 'ACTIVE',
      deleted_at: null,
    });
    expect((await tenant.http.get(`${BASE}/${project.id}`)).body).toEqual(project);
    const networks = await tenant.http.get(`/cloud/v1/networks/${project.id}/1`);
    expect(networks.body.results.map(({ name }: { name: string }) => name)).toContain('default');
    const groups = await tenant.http.get(`/cloud/v1/securitygroups/${project.id}/1`);
    expect(groups.body.results).toMatchObject([{ name: 'default' }]);
  });

  it('is prepared without a look at those of other accounts', async () => {
    const { rows } = await service.pool.query(
      "insert into projects (client_id, name, is_default, created_at) values (1, 'bare', false, now()) returning id",
    );
    await made();
    const networks = await service.http.get(`/cloud/v1/networks/${rows[0].id}/1`);
    expect([networks.status, networks.body.count]).toEqual([200, 0]);
    await service.pool.query('delete from projects where id = $1', [rows[0].id]);
  });

  it('needs a name that the account has not given yet, also among many at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => tenant.http.post(BASE, { name: 'wanted by many' })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.message).toContain('"wanted by many"');
    expect((await service.http.post(BASE, { name: 'wanted by many' })).status).toBe(201);
  });

  it.each([{}, { name: 'x' }, { name: null }, { name: 'fine', description: 'x'.repeat(256) }])(
    'is refused as %j',
    async (body) => {
      expect((await tenant.http.post(BASE, body)).status).toBe(400);
    },
  );

  it('is for administrators', async () => {
    const engineer = await service.withRole('Engineers');
    expect((await engineer.post(BASE, { name: 'by an engineer' })).status).toBe(403);
  });
});

describe('a change', () => {
  it('leaves what it does not name, and removes a description by null', async () => {
    const { id, name } = await made();
    const patch = async (body: object) => (await tenant.http.patch(`${BASE}/${id}`, body)).body;
    expect(await patch({ name: `${name} b` })).toMatchObject({ name: `${name} b`, description: 'for tests' });
    expect(await patch({ description: null })).toMatchObject({ name: `${name} b`, description: null });
    expect(await patch({})).toMatchObject({ name: `${name} b`, description: null });
    expect((await tenant.http.get(`${BASE}/${id}`)).body).toMatchObject({ name: `${name} b` });
  });

  it('takes no name that is taken, and no project of another account', async () => {
    const [one, other] = [await made(), await made()];
    expect((await tenant.http.patch(`${BASE}/${one.id}`, { name: other.name })).status).toBe(409);
    expect((await tenant.http.patch(`${BASE}/1`, { name: 'mine now' })).status).toBe(404);
  });
});

describe('deletion', () => {
  const remove = (id: number) => tenant.http.delete(`${BASE}/${id}`);

  it('takes the project and what it came with', async () => {
    const { id, name } = await made();
    const answer = await remove(id);
    expect(answer.status, answer.text).toBe(200);
    expect(await tenant.http.task(answer.body[0])).toMatchObject({
      task_type: 'delete_project',
      state: 'FINISHED',
      project_id: id,
      region_id: null,
    });
    expect((await tenant.http.get(`${BASE}/${id}`)).status).toBe(404);
    expect((await tenant.http.get(`/cloud/v1/volumes/${id}/1`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    const listed = async (query: string) =>
      (await tenant.http.get(`${BASE}?name=${encodeURIComponent(name)}${query}`)).body;
    expect(await listed('')).toEqual({ count: 0, results: [] });
    expect(await listed('&include_deleted=true')).toMatchObject({
      count: 1,
      results: [{ id, state: 'DELETED', deleted_at: expect.any(String) }],
    });
    expect((await tenant.http.post(BASE, { name })).status).toBe(201);
    const { rows } = await service.pool.query('select from networks where project_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it('takes a default network whose gateway was moved', async () => {
    const { id } = await made();
    const subnet = (await tenant.http.get(`/cloud/v1/subnets/${id}/1`)).body.results[0].id;
    const moved = await tenant.http.patch(`/cloud/v1/subnets/${id}/1/${subnet}`, { gateway_ip: '10.0.3.3' });
    expect(moved.status, moved.text).toBe(200);
    const answer = await remove(id);
    expect(answer.status, answer.text).toBe(200);
  });

  it('leaves nothing to be removed in a region that is not offered any more', async () => {
    const { id } = await made();
    await service.pool.query('update wants set region_id = 99 where project_id = $1 and region_id = 2', [id]);
    expect((await remove(id)).status).toBe(200);
    const { rows } = await service.pool.query('select from wants where project_id = $1 and region_id = 99', [id]);
    expect(rows).toEqual([]);
  });

  it('names all that is left inside, and changes nothing', async () => {
    const { id } = await made();
    const volume = await tenant.http.post(`/cloud/v1/volumes/${id}/1`, {
      source: 'new-volume',
      name: 'left inside',
      size: 1,
    });
    await tenant.http.task(volume.body[0]);
    await tenant.http.post(`/cloud/v1/ssh_keys/${id}`, { name: 'left inside' });
    await tenant.http.post(`/cloud/v1/securitygroups/${id}/1`, { security_group: { name: 'left inside' } });
    const answer = await remove(id);
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain(
      'still has security groups: 1 in region 1; volumes: 1 in region 1; SSH keys: 1; delete them first',
    );
    expect((await tenant.http.get(`/cloud/v1/networks/${id}/1`)).body.count).toBeGreaterThan(0);
  });

  it('leaves the default project and those of other accounts', async () => {
    const answer = await remove(tenant.projectId);
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('default project')]);
    expect((await remove(1)).status).toBe(404);
  });

  it('and a creation inside at the same time do not both succeed', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { id } = await made();
        const [key, gone] = await Promise.all([
          tenant.http.post(`/cloud/v1/ssh_keys/${id}`, { name: 'racing' }),
          remove(id),
        ]);
        return [key.status, gone.status];
      }),
    );
    for (const [key, gone] of outcomes) expect(key === 201).not.toBe(gone === 200);
    expect(outcomes.flat().filter((status) => status && status >= 500)).toEqual([]);
  });

  it('looks into every table that names a project, but for what goes with it', async () => {
    const { rows } = await service.pool.query(
      `select conrelid::regclass::text as name from pg_constraint
       where contype = 'f' and confrelid = 'projects'::regclass and confdeltype <> 'c'`,
    );
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(TABLES_OF_PROJECTS));
  });
});
