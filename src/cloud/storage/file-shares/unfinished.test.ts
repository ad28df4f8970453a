import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/cloud/v1/file_shares/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
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
  // Moves both times: when a removal is requested again, its task gets as much time as this one had.
  await service.pool.query(
    `update tasks set created_on = created_on - interval '1 day', deadline_at = deadline_at - interval '1 day' where id = $1`,
    [taskId],
  );
  return service.http.task(taskId);
}

const simulated = async () =>
  (await service.pool.query(`select doing from simulated_objects where kind = 'file_share'`)).rows.map(
    ({ doing }) => doing,
  );
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
  await expect.poll(async () => (await hurry()) === 0 && simulated()).toEqual([]);
});

/** Pretends that the simulated work on the share began an hour earlier. */
async function hurry() {
  const { rowCount } = await service.pool.query(
    `update simulated_objects set began_at = began_at - interval '1 hour' where kind = 'file_share'`,
  );
  await service.pool.query('update wants set due_at = clock_timestamp() where due_at is not null');
  return rowCount;
}

test('what was half made goes from the infrastructure as well', async () => {
  const taskId = await started(await service.http.post(BASE, { name: 'half made', protocol: 'NFS', size: 1 }));
  await expect.poll(simulated).toEqual(['making']);
  await overrun(taskId);
  await expect.poll(simulated).toEqual(['removing']);
  await expect.poll(async () => (await hurry()) === 0 && simulated()).toEqual([]);
  const wanted = async () => (await service.pool.query(`select from wants where kind = 'file_share'`)).rows;
  await expect.poll(wanted).toEqual([]);
});

test('a share whose deletion takes too long stays held, and goes in the end', async () => {
  const creation = await started(await service.http.post(BASE, { name: 'slow', protocol: 'NFS', size: 1 }));
  await expect.poll(hurry).toBe(1);
  const [id] = (await service.http.task(creation)).created_resources.file_shares;
  const url = `${BASE}/${id}`;

  const taskId = await started(await service.http.delete(url));
  await expect.poll(simulated).toEqual(['removing']);
  const ended = await overrun(taskId);
  expect(ended).toMatchObject({ state: 'ERROR', error: expect.stringContaining('the removal continues') });
  expect((await service.http.get(url)).body).toMatchObject({ status: 'deleting', task_id: taskId });
  const again = await started(await service.http.delete(url));
  expect(again).not.toBe(taskId);
  expect(await usedQuota()).toBe(1);

  await hurry();
  await expect.poll(async () => (await service.http.get(url)).status).toBe(404);
  expect(await usedQuota()).toBe(0);
  expect((await service.http.task(taskId)).state).toBe('ERROR');
  expect((await service.http.task(again)).state).toBe('FINISHED');
});
