import { afterAll, beforeAll, expect, it } from 'vitest';
import { hurried, hurry, infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const NETWORKS = '/cloud/v1/networks/1/1';
const SUBNETS = '/cloud/v1/subnets/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service.stop());

const taskOf = (answer: { status: number; body: string[]; text: string }): string => {
  expect(answer.status, answer.text).toBe(200);
  return String(answer.body[0]);
};
const finished = async (taskId: string) => {
  const task = await hurried(service.pool, service.http.task(taskId));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources;
};
async function overrun(taskId: string) {
  // Moves both times: when a removal is requested again, its task gets as much time as this one had.
  await service.pool.query(
    `update tasks set created_on = created_on - interval '1 hour', deadline_at = deadline_at - interval '1 hour'
     where id = $1`,
    [taskId],
  );
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR' });
}
const network = async (): Promise<string> =>
  (await finished(taskOf(await service.http.post(NETWORKS, { name: 'first' })))).networks[0];
const settled = () => service.pool.query('select from wants where due_at is not null').then(({ rowCount }) => rowCount);

it('leaves nothing of what could not be made', async () => {
  await expect
    .poll(async () => {
      await hurry(service.pool);
      return settled();
    })
    .toBe(0);
  const before = [await infrastructure(service.pool, 'network'), await infrastructure(service.pool, 'subnet')];
  const made = taskOf(await service.http.post(NETWORKS, { name: 'never there' }));
  const parts = async () => (await infrastructure(service.pool, 'network')).there.length;
  await expect.poll(parts).toBe(Number(before[0]?.there.length) + 1);
  await overrun(made);
  const network_id = (await service.http.get(NETWORKS)).body.results[0].id;
  await overrun(taskOf(await service.http.post(SUBNETS, { name: 'sub', network_id, cidr: '172.16.0.0/24' })));
  const after = async () => {
    await hurry(service.pool);
    return [await infrastructure(service.pool, 'network'), await infrastructure(service.pool, 'subnet')];
  };
  await expect.poll(after).toEqual(before);
});

it('wants what was before when a change fails, and what was changed meanwhile', async () => {
  const id = await network();
  const change = { name: 'other', tags: { a: 'b' } };
  const taskId = taskOf(await service.http.patch(`/cloud/v2/networks/1/1/${id}`, change));
  expect((await specOf(service.pool, 'network', id)).wanted).toMatchObject({
    name: 'other',
    metadata: { a: 'b' },
  });
  await overrun(taskId);
  expect((await service.http.get(`${NETWORKS}/${id}`)).body).toMatchObject({ name: 'first', task_id: null });
  expect((await specOf(service.pool, 'network', id)).wanted).toMatchObject({ name: 'first', metadata: {} });
  expect((await service.http.patch(`${NETWORKS}/${id}`, { name: 'at once' })).status).toBe(200);
  const there = async () => {
    await hurry(service.pool);
    return (await specOf(service.pool, 'network', id)).there?.name;
  };
  await expect.poll(there).toBe('at once');
});

it('shows a network whose removal takes longer than its task, with its subnets, until both have gone', async () => {
  const id = await network();
  const subnet = { name: 'sub', network_id: id, cidr: '172.16.0.0/24' };
  const [subnetId] = (await finished(taskOf(await service.http.post(SUBNETS, subnet)))).subnets;
  const removal = taskOf(await service.http.delete(`${NETWORKS}/${id}`));
  await overrun(removal);
  expect((await service.http.get(`${NETWORKS}/${id}`)).body).toMatchObject({ task_id: removal });
  expect((await service.http.patch(`${NETWORKS}/${id}`, { name: 'renamed' })).status).toBe(409);
  // Both removals can be waited for again.
  const again = [
    taskOf(await service.http.delete(`${NETWORKS}/${id}`)),
    taskOf(await service.http.delete(`${SUBNETS}/${subnetId}`)),
  ];
  for (const taskId of again) await finished(taskId);
  expect((await service.http.get(`${NETWORKS}/${id}`)).status).toBe(404);
  expect(await specOf(service.pool, 'network', id)).toEqual({ wanted: undefined, there: undefined });
  expect(await specOf(service.pool, 'subnet', subnetId)).toEqual({ wanted: undefined, there: undefined });
  const quota = await service.pool.query(`select used from quota_usage where attribute = 'subnet_count'`);
  expect(quota.rows).toEqual([{ used: 0 }]);
});
