import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const NETWORKS = '/cloud/v1/networks/1/1';
const V2 = '/cloud/v2/networks/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

async function finished(answer: { status: number; text: string; body: string[] }) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  const task = await service.http.task(answer.body[0] ?? '');
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}

async function madeNetwork(body: object = {}): Promise<string> {
  const task = await finished(await service.http.post(NETWORKS, { name: 'made', ...body }));
  return task.created_resources.networks[0];
}

const used = async (attribute: string): Promise<number> => {
  const { rows } = await service.pool.query('select used::int from quota_usage where attribute = $1', [attribute]);
  return rows[0]?.used ?? 0;
};

describe('a network', () => {
  it('is made by one task that names it, and is held while that runs', async () => {
    const answer = await service.http.post(NETWORKS, { name: 'backend', tags: { env: ' test ' } });
    expect(answer.status, answer.text).toBe(200);
    const early = await service.http.get(`${NETWORKS}?name=backend`);
    expect(early.body.results).toMatchObject([{ creator_task_id: answer.body[0] }]);
    const task = await finished(answer);
    expect(task).toMatchObject({ task_type: 'create_network' });
    expect(task.created_resources.networks).toHaveLength(1);
    const { body } = await service.http.get(`${NETWORKS}/${task.created_resources.networks[0]}`);
    expect(body).toMatchObject({
      name: 'backend',
      type: 'vxlan',
      mtu: 1450,
      default: false,
      external: false,
      shared: false,
      subnets: [],
      tags: [{ key: 'env', value: 'test', read_only: false }],
      project_id: 1,
      task_id: null,
      creator_task_id: task.id,
    });
    expect(body.segmentation_id).toBeGreaterThan(0);
  });

  it('has a VLAN of its own when many are made at once', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => madeNetwork({ type: 'vlan' })));
    const { rows } = await service.pool.query('select segmentation_id as id from networks where id = any($1)', [ids]);
    const numbers = rows.map((row) => row.id);
    expect(new Set(numbers).size).toBe(12);
    expect(Math.min(...numbers)).toBe(2);
  });

  it.each([
    [{}, 'name'],
    [{ name: 'a' }, 'name'],
    [{ name: 'fine', type: 'gre' }, 'type'],
    [{ name: 'fine', tags: { 'a b': 'c' } }, 'tags.a b'],
  ])('is refused as %j', async (body, field) => {
    const answer = await service.http.post(NETWORKS, body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toContain(field);
  });
});

describe('a change', () => {
  it('comes at once with v1, tags as a merge patch', async () => {
    const id = await madeNetwork({ tags: { env: 'test', owner: 'me' } });
    const answer = await service.http.patch(`${NETWORKS}/${id}`, {
      name: 'renamed',
      tags: { env: 'live', owner: null },
    });
    expect(answer.body).toMatchObject({
      name: 'renamed',
      tags: [{ key: 'env', value: 'live', read_only: false }],
    });
    expect((await service.http.patch(`${NETWORKS}/${id}`, { tags: null })).body.tags).toEqual([]);
  });

  it('comes by a task with v2, or by none when nothing changes', async () => {
    const id = await madeNetwork({ tags: { env: 'test' } });
    const task = await finished(await service.http.patch(`${V2}/${id}`, { name: 'renamed' }));
    expect(task.task_type).toBe('update_network');
    const { body } = await service.http.get(`${NETWORKS}/${id}`);
    expect(body).toMatchObject({ name: 'renamed', task_id: null });
    const same = await service.http.patch(`${V2}/${id}`, { name: 'renamed', tags: { env: 'test' } });
    expect([same.status, same.body]).toEqual([200, []]);
  });

  it('is 409 while a task holds the network', async () => {
    const id = await madeNetwork();
    const holder = crypto.randomUUID();
    await service.pool.query('update networks set task_id = $2 where id = $1', [id, holder]);
    for (const answer of [
      await service.http.patch(`${NETWORKS}/${id}`, { name: 'other' }),
      await service.http.patch(`${V2}/${id}`, { name: 'other' }),
      await service.http.delete(`${NETWORKS}/${id}`),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body.message).toContain(holder);
    }
  });

  it("is 403 for the platform's network, and 404 for what isn't there", async () => {
    const external = (await service.http.get(`${NETWORKS}?owned_by=any&external=true`)).body.results[0].id;
    expect((await service.http.patch(`${V2}/${external}`, { name: 'mine' })).status).toBe(403);
    expect((await service.http.delete(`${NETWORKS}/${external}`)).status).toBe(403);
    for (const id of ['not-an-id', crypto.randomUUID()]) {
      expect((await service.http.patch(`${NETWORKS}/${id}`, { name: 'mine' })).status).toBe(404);
      expect((await service.http.delete(`${NETWORKS}/${id}`)).status).toBe(404);
    }
  });
});

describe('deletion', () => {
  it('takes the network and its quota', async () => {
    const before = await used('network_count');
    const id = await madeNetwork();
    expect(await used('network_count')).toBe(before + 1);
    const task = await finished(await service.http.delete(`${NETWORKS}/${id}`));
    expect(task.task_type).toBe('delete_network');
    expect((await service.http.get(`${NETWORKS}/${id}`)).status).toBe(404);
    expect(await used('network_count')).toBe(before);
  });

  it('is refused for the default network', async () => {
    const { body } = await service.http.get(`${NETWORKS}?name=default`);
    const answer = await service.http.delete(`${NETWORKS}/${body.results[0].id}`);
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain('default');
  });

  it('lets one of many win', async () => {
    const id = await madeNetwork();
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.http.delete(`${NETWORKS}/${id}`)));
    const statuses = answers.map((one) => one.status).filter((status) => status !== 404);
    expect(statuses.sort((a, b) => a - b)).toEqual([200, ...statuses.slice(1).map(() => 409)]);
  });
});
