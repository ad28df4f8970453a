import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SOON } from '../../test/support/http-client.ts';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_COMPARE_SECONDS: '1', TRADEWIND_LOG_LEVEL: 'error' });
});
afterAll(() => service.stop());

async function made(kind: 'file_shares' | 'networks' | 'volumes', body: object): Promise<string> {
  const answer = await service.http.post(`/cloud/v1/${kind}/1/1`, body);
  expect(answer.status, answer.text).toBe(200);
  return (await service.http.task(answer.body[0])).created_resources[kind][0];
}
const share = () => made('file_shares', { name: 'kept', protocol: 'NFS', size: 1 });
const objects = async (id: string) =>
  (await service.pool.query('select kind, spec from simulated_objects where id = $1', [id])).rows;
const metric = async (line: RegExp) => (await service.http.get('/metrics')).text.match(line)?.[1];

it('what has gone comes back, as it was wanted', async () => {
  const id = await made('networks', { name: 'lost' });
  await inPeace(id);
  const [before] = await objects(id);
  await service.pool.query('delete from simulated_objects where id = $1', [id]);
  await vi.waitFor(async () => expect(await objects(id)).toEqual([before]), SOON);
  const drift = /^tradewind_drift_total\{backend="simulated",kind="network"\} (\d+)$/m;
  await vi.waitFor(async () => expect(await metric(drift)).toBe('1'), SOON);
});

it('what held data does not come back empty', async () => {
  const id = await share();
  await inPeace(id);
  await service.pool.query('delete from simulated_objects where id = $1', [id]);
  const doing = async () => {
    const { rows } = await service.pool.query('select doing from wants where id = $1', [id]);
    return rows[0]?.doing;
  };
  await vi.waitFor(async () => expect(await doing()).toMatch(/^the file share has disappeared/), SOON);
  expect(await objects(id)).toEqual([]);
});

/** Waits until no worker has the want in hand, since one would bring it back without comparing. */
function inPeace(id: string): Promise<void> {
  const quiet = 'select from wants where id = $1 and settled_generation = generation and due_at is null';
  return vi.waitFor(async () => expect((await service.pool.query(quiet, [id])).rowCount).toBe(1), SOON);
}

it('what nobody wants goes, and nothing else', async () => {
  const [kept, volume] = [await share(), await made('volumes', { source: 'new-volume', name: 'disk', size: 1 })];
  const [foreign, diskOfNode] = [randomUUID(), randomUUID()];
  await service.pool.query(
    `insert into wants (kind, id, client_id, project_id, region_id, spec, settled_generation)
     values ('cluster', gen_random_uuid(), 1, 1, 1, $1, 1)`,
    [JSON.stringify({ pools: { workers: { nodes: { first: { bootVolumeId: diskOfNode } } } } })],
  );
  await service.pool.query(
    `insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
     select 'volume', id, '{}', 'making', now(), 0 from unnest($1::uuid[]) as id`,
    [[foreign, diskOfNode]],
  );
  await vi.waitFor(async () => expect(await objects(foreign)).toEqual([]), SOON);
  await vi.waitFor(
    async () => expect((await service.pool.query('select from wants where id = $1', [foreign])).rows).toEqual([]),
    SOON,
  );
  for (const id of [kept, volume, diskOfNode]) expect(await objects(id)).toHaveLength(1);
});
