import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());

const volume = (name: string) =>
  service.http.post('/cloud/v1/volumes/1/1', { name, source: 'new-volume', size: 1 });

/** Returns the sum of the series that match, as they are at one moment. */
async function sumOf(series: RegExp): Promise<number> {
  const { text } = await service.anonymous.get('/metrics');
  const values = text.split('\n').filter((line) => series.test(line));
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

it('measures tasks and what backends do for them', async () => {
  const finished = /^tradewind_task_duration_seconds_count\{.*type="create_volume",.*state="FINISHED"/;
  const failed = /^tradewind_task_duration_seconds_count\{.*type="create_volume",.*state="ERROR"/;
  expect([await sumOf(finished), await sumOf(failed)]).toEqual([0, 0]);

  expect(await service.http.task((await volume('made')).body[0])).toMatchObject({ state: 'FINISHED' });
  await vi.waitFor(async () => expect(await sumOf(finished)).toBe(1), 10_000);
  const settled =
    /^tradewind_backend_call_duration_seconds_count\{region="1",kind="volume",outcome="settled"/;
  expect(await sumOf(settled)).toBe(1);

  const rule = { task: 'create_volume', times: 1, do: { fail: 'no space' } };
  expect((await service.http.post('/tradewind/v1/test/faults', rule)).status).toBe(201);
  expect(await service.http.task((await volume('refused')).body[0])).toMatchObject({ state: 'ERROR' });
  await vi.waitFor(async () => expect(await sumOf(failed)).toBe(1), 10_000);
});

it('counts what is waited for', async () => {
  const unended = () => sumOf(/^tradewind_unended_tasks\{/);
  expect(await unended()).toBe(0);
  await service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', do: { hold: true } });
  const { body } = await volume('held');
  expect(await unended()).toBe(1);
  expect(await sumOf(/^tradewind_oldest_unended_task_seconds /)).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    expect(await sumOf(/^tradewind_wants\{/)).toBeGreaterThan(0);
  }, 10_000);
  await service.http.delete('/tradewind/v1/test/faults');
  await service.http.task(body[0]);
  expect(await unended()).toBe(0);
});

it('counts workers and connections', async () => {
  expect(await sumOf(/^tradewind_workers /)).toBe(1);
  expect(await sumOf(/^tradewind_database_connections\{state="(busy|idle)"/)).toBeGreaterThan(0);
});
