import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';
import type { ChangeFeed } from '../../../db/changes.ts';
import { createTaskWaiting } from './waiting.ts';

describe('GET of a task with Prefer: wait', () => {
  it.each(['/v1/tasks', '/gcore/cloud/v1/tasks'])('%s answers when the task has ended', async (base) => {
    await withService({}, async (service) => {
      const answer = await held(service, `${base}/${await startTask(service)}`, 50);
      expect([answer.status, answer.body.state]).toEqual([200, 'FINISHED']);
      expect(answer.headers.get('preference-applied')).toBe('wait=50');
      const [made] = answer.body.created_resources.volumes;
      expect((await service.http.get(`/cloud/v1/volumes/1/1/${made}`)).body.status).toBe('available');
    });
  });

  it('answers the task as it is when the time is over or the server stops', async () => {
    await withService({ TRADEWIND_SIMULATION_SPEED: '0.01' }, async (service) => {
      const path = `/v1/tasks/${await startTask(service)}`;
      const late = await held(service, path, 1);
      expect([late.status, late.body.finished_on]).toEqual([200, null]);
      expect(late.headers.get('preference-applied')).toBe('wait=1');
      const plain = await service.http.get(path);
      expect([plain.status, plain.headers.get('preference-applied')]).toEqual([200, null]);
      expect((await held(service, `/v1/tasks/${randomUUID()}`, 60)).status).toBe(404);

      const atStop = held(service, path, 60);
      // Later requests are answered after this one was accepted, so it is waiting by now.
      for (let n = 0; n < 20; n++) await service.http.get(path);
      await service.stop();
      const last = await atStop;
      expect([last.body.finished_on, last.headers.get('connection')]).toEqual([null, 'close']);
    });
  });

  async function withService(
    settings: Record<string, string>,
    work: (service: TestService) => Promise<void>,
  ): Promise<void> {
    const service = await startService(settings);
    let stopped = false;
    const stop = async () => {
      if (stopped) return;
      stopped = true;
      await service.stop();
    };
    try {
      await work({ ...service, stop });
    } finally {
      await stop();
    }
  }

  const held = ({ http }: TestService, path: string, seconds: number) =>
    http.request('GET', path, { headers: { prefer: `wait=${seconds}` } });

  async function startTask({ http }: TestService): Promise<string> {
    const answer = await http.post('/cloud/v1/volumes/1/1', {
      source: 'new-volume',
      name: 'awaited',
      size: 1,
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.body[0];
  }
});

describe('waiting', () => {
  function feed() {
    let changed = (_key: string) => {};
    let missed = () => {};
    const changes: ChangeFeed = {
      connected: () => true,
      on(_topic, onChange, onMissed) {
        [changed, missed] = [onChange, onMissed];
      },
      close: async () => {},
    };
    return { changes, end: (id: string) => changed(id), missed: () => missed() };
  }
  const wait = (read: () => Promise<string>, gone = new AbortController().signal) => ({
    taskId: 'a',
    seconds: 60,
    gone,
    read,
    ended: (state: string) => state === 'FINISHED',
  });

  it('notices an end that comes while the task is being read', async () => {
    const { changes, end } = feed();
    let reads = 0;
    const answer = await createTaskWaiting(changes).until(
      wait(async () => {
        if (++reads > 1) return 'FINISHED';
        end('a');
        return 'RUNNING';
      }),
    );
    expect(answer).toEqual({ task: 'FINISHED', waited: true });
  });

  it('looks again when announcements may have been lost', async () => {
    const { changes, missed } = feed();
    let state = 'RUNNING';
    const held = createTaskWaiting(changes).until(wait(async () => state));
    await turn();
    state = 'FINISHED';
    missed();
    expect((await held).task).toBe('FINISHED');
  });

  it('holds no more than it may, and makes room when a client goes', async () => {
    const waiting = createTaskWaiting(feed().changes, 1);
    const first = new AbortController();
    const held = waiting.until(wait(async () => 'RUNNING', first.signal));
    expect(await waiting.until(wait(async () => 'NEW'))).toEqual({ task: 'NEW', waited: false });
    first.abort();
    expect(await held).toEqual({ task: 'RUNNING', waited: true });
    expect((await waiting.until(wait(async () => 'FINISHED'))).waited).toBe(true);
  });
});
