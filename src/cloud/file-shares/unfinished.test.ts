import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../test/support/service.ts';

const BASE = '/cloud/v1/file_shares/1/1';

// So slow that no task ends unless it is made to.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service.stop());

async function started(answer: { status: number; text: string; body: string[] }): Promise<string> {
  expect(answer.status, answer.text).toBe(200);
  return answer.body[0] ?? '';
}

async function overrun(taskId: string) {
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [
    taskId,
  ]);
  return service.http.task(taskId);
}

const usedQuota = async () =>
  (await service.pool.query(`select used from quota_usage where attribute = 'sfs_count'`)).rows[0].used;

test('a share is there while it is made, and gone when that fails', async () => {
  const body = { name: 'never ready', protocol: 'NFS', size: 1 };
  const taskId = await started(await service.http.post(BASE, body));
  const { results } = (await service.http.get(BASE)).body;
  expect(results).toMatchObject([{ status: 'creating', task_id: taskId, connection_point: null }]);

  const url = `${BASE}/${results[0].id}`;
  const refused = await service.http.delete(url);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(taskId);

  expect(await usedQuota()).toBe(1);
  expect(await overrun(taskId)).toMatchObject({
    state: 'ERROR',
    error: expect.any(String),
    created_resources: null,
  });
  expect((await service.http.get(url)).status).toBe(404);
  expect(await usedQuota()).toBe(0);
});

test('a share whose deletion fails is available again', async () => {
  const { rows } = await service.pool.query(
    `insert into file_shares (id, project_id, region_id, name, type_name, protocol, size_gib, status, access,
       root_squash, connection_point, tags, creator_task_id, created_at)
     values (gen_random_uuid(), 1, 1, 'kept', 'vast', 'NFS', 1, 'available', '[]', true, '198.18.0.1:/a', '{}',
       gen_random_uuid(), now()) returning id`,
  );
  const url = `${BASE}/${rows[0].id}`;
  const taskId = await started(await service.http.delete(url));
  expect((await service.http.get(url)).body).toMatchObject({ status: 'deleting', task_id: taskId });
  expect(await overrun(taskId)).toMatchObject({ state: 'ERROR' });
  expect((await service.http.get(url)).body).toMatchObject({
    status: 'available',
    task_id: null,
    connection_point: '198.18.0.1:/a',
  });
});
