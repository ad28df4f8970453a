import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SOON } from '../../../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';

const FAULTS = '/tradewind/v1/test/faults';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());
afterEach(() => service.http.delete(FAULTS));

const cancel = (id: string, http = service.http) => http.post(`/tradewind/v1/tasks/${id}/cancel`);

/** Starts a task by the request. It goes on until it is cancelled. */
async function held(task: string, request: () => Promise<{ text: string; body: string[] }>): Promise<string> {
  const rule = await service.http.post(FAULTS, { task, do: { hold: true } });
  expect(rule.status, rule.text).toBe(201);
  const { text, body } = await request();
  expect(body, text).toHaveLength(1);
  return body[0] ?? '';
}

async function newVolume(): Promise<string> {
  const answer = await service.http.post('/cloud/v1/volumes/1/1', {
    name: 'kept',
    source: 'new-volume',
    size: 1,
  });
  const task = await service.http.task(answer.body[0]);
  return task.created_resources.volumes[0];
}

const make = () => service.http.post('/cloud/v1/volumes/1/1', { name: 'never', source: 'new-volume', size: 1 });

describe('a creation', () => {
  it('leaves nothing behind', async () => {
    const volumes = async () => (await service.http.get('/cloud/v1/volumes/1/1')).body.count;
    const used = async () => {
      const { rows } = await service.pool.query(`select used from quota_usage where attribute = 'volume_count'`);
      return rows[0]?.used ?? 0;
    };
    const before = [await volumes(), await used()];
    const id = await held('create_volume', make);
    expect([await volumes(), await used()]).not.toEqual(before);
    const { status, text, body } = await cancel(id);
    expect(status, text).toBe(200);
    expect(body).toMatchObject({
      id,
      state: 'ERROR',
      error: expect.stringMatching(/^Cancelled by user \d+$/),
    });
    expect([await volumes(), await used()]).toEqual(before);
    await vi.waitFor(async () => {
      const left = await service.pool.query(`select from wants where kind = 'volume'`);
      expect(left.rowCount).toBe(before[0]);
    }, SOON);
    const again = await cancel(id);
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('has ended')]);
  });
});

describe('a change', () => {
  it('is undone, and what it held is free again', async () => {
    const volume = await newVolume();
    const read = async () => (await service.http.get(`/cloud/v1/volumes/1/1/${volume}`)).body;
    const before = await read();
    // It answers when its task has ended.
    let answer: ReturnType<typeof service.http.post> | undefined;
    const id = await held('retype_volume', async () => {
      answer = service.http.post(`/cloud/v1/volumes/1/1/${volume}/retype`, { volume_type: 'ssd_hiiops' });
      return vi.waitFor(async () => {
        const { task_id } = await read();
        expect(task_id).not.toBeNull();
        return { text: '', body: [task_id] };
      }, SOON);
    });
    expect((await cancel(id)).status).toBe(200);
    const refused = await answer;
    expect([refused?.status, refused?.text]).toEqual([409, expect.stringContaining('Cancelled by user')]);
    expect(await read()).toEqual({ ...before, updated_at: expect.any(String) });
  });

  it.each([
    ['a removal', 'delete_volume', (id: string) => service.http.delete(`/cloud/v1/volumes/1/1/${id}`), 'gone'],
    [
      'what can only grow',
      'extend_volume',
      (id: string) => service.http.post(`/cloud/v1/volumes/1/1/${id}/extend`, { size: 2 }),
      'smaller',
    ],
  ])('is refused for %s', async (_, type, request, why) => {
    const volume = await newVolume();
    const id = await held(type, async () => {
      const { text, body } = await request(volume);
      return { text, body: body.tasks ?? body };
    });
    const { status, text } = await cancel(id);
    expect([status, text]).toEqual([409, expect.stringContaining(why)]);
    expect((await service.http.get(`/v1/tasks/${id}`)).body.state).not.toBe('ERROR');
  });
});

it('tells an event', async () => {
  const id = await held('create_volume', make);
  const { body: start } = await service.http.get('/tradewind/v1/events?limit=1');
  await cancel(id);
  await vi.waitFor(async () => {
    const { body } = await service.http.get(`/tradewind/v1/events?cursor=${start.cursor}&subject=task/${id}`);
    const types = body.events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(['tradewind.task.failed', 'tradewind.task.cancelled']));
  }, SOON);
});

it('is told to the account of the task if the platform administrator does it', async () => {
  const other = await service.otherTenant();
  const path = `/cloud/v1/volumes/${other.projectId}/1`;
  const id = await held('create_volume', () => other.http.post(path, { name: 'never', source: 'new-volume', size: 1 }));
  const { body: start } = await other.http.get('/tradewind/v1/events?limit=1');
  expect((await cancel(id)).status).toBe(200);
  await vi.waitFor(async () => {
    const { body } = await other.http.get(`/tradewind/v1/events?cursor=${start.cursor}&subject=task/${id}`);
    expect(body.events.map(({ type }: { type: string }) => type)).toContain('tradewind.task.cancelled');
  }, SOON);
  const { body } = await other.http.get(`/tradewind/v1/audit?subject=task/${id}`);
  expect(body.records).toMatchObject([{ operation: 'cancelTask', client_id: other.clientId }]);
});

it('is for those who may change things in the account', async () => {
  const id = await held('create_volume', make);
  const other = await service.otherTenant();
  const reader = await service.withRole('Users');
  const answers = [await cancel(id, other.http), await cancel(id, reader), await cancel(id, service.anonymous)];
  expect(answers.map(({ status }) => status)).toEqual([404, 403, 401]);
  expect((await cancel(id, await service.withRole('Engineers'))).status).toBe(200);
});
