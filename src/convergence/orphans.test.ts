import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_COMPARE_SECONDS: '1', TRADEWIND_LOG_LEVEL: 'error' });
});
afterAll(() => service.stop());

async function made(kind: 'file_shares' | 'volumes', body: object): Promise<string> {
  const answer = await service.http.post(`/cloud/v1/${kind}/1/1`, body);
  expect(answer.status, answer.text).toBe(200);
  return (await service.http.task(answer.body[0])).created_resources[kind][0];
}
const share = () => made('file_shares', { name: 'kept', protocol: 'NFS', size: 1 });
const objects = async (id: string) =>
  (await service.pool.query('select kind, spec from simulated_objects where id = $1', [id])).rows;
const metric = async (line: RegExp) => (await service.http.get('/metrics')).text.match(line)?.[1];
const WITHIN = { timeout: 20_000, interval: 100 };

it('what has gone comes back, as it was wanted last', async () => {
  const id = await share();
  await service.http.post(`/cloud/v1/file_shares/1/1/${id}/metadata`, { a: 'b' });
  // Nobody is at it any more, who would bring it back without a look.
  const inPeace = `select from wants where id = $1 and generation = 2 and settled_generation = 2`;
  await vi.waitFor(async () => expect((await service.pool.query(inPeace, [id])).rowCount).toBe(1), WITHIN);
  const [before] = await objects(id);
  await service.pool.query('delete from simulated_objects where id = $1', [id]);
  await vi.waitFor(async () => expect(await objects(id)).toEqual([before]), WITHIN);
  const drift = /^tradewind_drift_total\{backend="simulated",kind="file_share"\} (\d+)$/m;
  await vi.waitFor(async () => expect(await metric(drift)).toBe('1'), WITHIN);
  const answer = await service.http.get(`/cloud/v1/file_shares/1/1/${id}`);
  expect(answer.body).toMatchObject({ status: 'available', task_id: null });
});

it('what nobody wants goes, and nothing else', async () => {
  const [kept, volume] = [
    await share(),
    await made('volumes', { source: 'new-volume', name: 'disk', size: 1 }),
  ];
  const foreign = randomUUID();
  await service.pool.query(
    `insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
     values ('volume', $1, '{}', 'making', now(), 0)`,
    [foreign],
  );
  await vi.waitFor(async () => expect(await objects(foreign)).toEqual([]), WITHIN);
  await vi.waitFor(
    async () =>
      expect((await service.pool.query('select from wants where id = $1', [foreign])).rows).toEqual([]),
    WITHIN,
  );
  for (const id of [kept, volume]) expect(await objects(id)).toHaveLength(1);
});
