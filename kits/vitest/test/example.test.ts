import { expect, server, test } from '@tradewind/vitest';
import { beforeEach } from 'vitest';

const tradewind = server();

const VOLUMES = '/cloud/v1/volumes/1/1';
const newVolume = { source: 'new-volume', name: 'data', size: 1 };

async function startVolume(): Promise<string> {
  const { body } = await tradewind.call('POST', VOLUMES, newVolume);
  return body[0];
}
const volumes = async () => (await tradewind.call('GET', VOLUMES)).body.count;

beforeEach(() => tradewind.reset());

test('a request that is refused for a while is repeated', async () => {
  await tradewind.addFault({ operation: 'createVolume', times: 1, do: { status: 429, retry_after: 1 } });
  const refused = await tradewind.call('POST', VOLUMES, newVolume);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect((await tradewind.call('POST', VOLUMES, newVolume)).status).toBe(200);
});

test('an answer that is lost leaves the volume there', async () => {
  await tradewind.addFault({ operation: 'createVolume', do: { drop: 'after_commit' } });
  await expect(tradewind.call('POST', VOLUMES, newVolume)).rejects.toThrow('fetch failed');
  expect(await volumes()).toBe(1);
});

test('a request that takes long, and one for which the quota is used up', async () => {
  await tradewind.addFault({ operation: 'createVolume', nth: 1, do: { delay_ms: 50 } });
  await tradewind.addFault({ operation: 'createVolume', nth: 2, do: { quota: 'volume_count' } });
  expect((await tradewind.call('POST', VOLUMES, newVolume)).status).toBe(200);
  expect((await tradewind.call('POST', VOLUMES, newVolume)).status).toBe(403);
  expect(await tradewind.faultHits()).toEqual([1, 1]);
});

test('a task that fails', async () => {
  await tradewind.addFault({ task: 'create_volume', name: 'da*', do: { fail: 'no space left' } });
  expect(await tradewind.ended(await startVolume())).toMatchObject({ state: 'ERROR' });
});

test('a task that is held until the test goes on', async () => {
  const fault = await tradewind.addFault({ task: 'create_volume', do: { hold: true } });
  const task = await startVolume();
  await tradewind.removeFault(fault);
  expect(await tradewind.ended(task)).toMatchObject({ state: 'FINISHED' });
});

test('tasks that a test ends itself', async () => {
  await tradewind.setSpeed(0.01);
  const [one, other] = [await startVolume(), await startVolume()];
  await tradewind.finishTask(one);
  await tradewind.failTask(other, 'for the test');
  expect([await tradewind.ended(one), await tradewind.ended(other)]).toMatchObject([
    { state: 'FINISHED' },
    { state: 'ERROR', error: 'for the test' },
  ]);
});

test('a task that is not there', async () => {
  const id = '7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90';
  await expect(tradewind.ended(id)).rejects.toThrow('404');
});

test('a deadline that passes', async () => {
  await tradewind.addFault({ task: 'create_volume', do: { hold: true } });
  const task = await startVolume();
  await tradewind.setClock({ advance_s: 7 * 86_400 });
  expect((await tradewind.ended(task)).error).toContain('deadline exceeded');
});

test('a snapshot to which several tests go back', async () => {
  await tradewind.ended(await startVolume());
  await tradewind.takeSnapshot('with-a-volume');
  await tradewind.ended(await startVolume());
  await tradewind.restoreSnapshot('with-a-volume');
  expect(await volumes()).toBe(1);
  await tradewind.removeSnapshot('with-a-volume');
});

// All of them begin with nothing, on one server.
test.each(Array.from({ length: 100 }, (_, number) => number))('one of a hundred, number %i', async () => {
  await startVolume();
  expect(await volumes()).toBe(1);
});

test('two accounts that do not see each other', async ({ tenant }) => {
  const other = await tradewind.makeTenant();
  const path = `/cloud/v1/volumes/${tenant.projectId}/1`;
  const [task] = await tenant.must('POST', path, newVolume);
  expect((await tenant.ended(task)).state).toBe('FINISHED');
  expect((await other.call('GET', path)).status).toBe(404);
});
