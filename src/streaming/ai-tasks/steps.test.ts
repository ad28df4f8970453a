import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStage, type Stage } from './fixtures/ai-tasks.ts';
import { cancelAiTask, createAiTask, getAiTask } from './service.ts';
import { STATUSES, type Status, TRANSITIONS } from './states.ts';
import { noteProgress, type Step } from './store.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.at('2026-11-21T10:00:00Z'));

const STEPS: Record<Status, Step> = {
  PENDING: { to: 'PENDING' },
  RECEIVED: { to: 'RECEIVED' },
  STARTED: { to: 'STARTED' },
  RETRY: { to: 'RETRY' },
  REVOKED: { to: 'REVOKED' },
  SUCCESS: { to: 'SUCCESS', result: { speech_detected: false } },
  FAILURE: { to: 'FAILURE', result: { error: 'no audio track' } },
};
const WAY: Record<Status, Status[]> = {
  PENDING: [],
  RECEIVED: ['RECEIVED'],
  STARTED: ['STARTED'],
  RETRY: ['STARTED', 'RETRY'],
  REVOKED: ['REVOKED'],
  SUCCESS: ['STARTED', 'SUCCESS'],
  FAILURE: ['FAILURE'],
};

async function taskIn(status: Status): Promise<string> {
  const id = await createAiTask(stage.on, stage.principal, {
    task_name: 'transcription',
    url: 'https://example.com/a.mp4',
  });
  for (const next of WAY[status]) expect(await stage.advance(id, STEPS[next])).toBe(true);
  return id;
}

const read = (id: string) => getAiTask(stage.on, stage.principal, id);

test.each(STATUSES.flatMap((from) => STATUSES.map((to) => ({ from, to }))))(
  'from $from to $to',
  async ({ from, to }) => {
    const id = await taskIn(from);
    const before = await read(id);
    const allowed = TRANSITIONS[from].includes(to);
    expect(await stage.advance(id, STEPS[to])).toBe(allowed);
    const after = await read(id);
    if (allowed) expect(after.status).toBe(to);
    else expect(after).toEqual(before);
    if (TRANSITIONS[after.status].length > 0) await cancelAiTask(stage.on, stage.principal, id);
  },
);

test('a task that succeeds has its times, full progress and its result', async () => {
  const id = await taskIn('PENDING');
  stage.at('2026-11-21T10:00:10.500Z');
  await stage.advance(id, { to: 'STARTED' });
  await stage.advance(id, { to: 'PENDING' });
  stage.at('2026-11-21T10:00:30Z');
  await stage.advance(id, { to: 'STARTED' });
  stage.at('2026-11-21T10:01:00Z');
  await stage.advance(id, { to: 'SUCCESS', result: { speech_detected: false } });
  expect(await read(id)).toMatchObject({
    status: 'SUCCESS',
    progress: 100,
    started_at: new Date('2026-11-21T10:00:10.500Z'),
    completed_at: new Date('2026-11-21T10:01:00Z'),
    result: { speech_detected: false },
  });
});

test('progress rises while work goes on, and at no other time', async () => {
  const id = await taskIn('PENDING');
  expect(await noteProgress(stage.database.sql, id, 10)).toBe(false);
  await stage.advance(id, { to: 'STARTED' });
  expect(await noteProgress(stage.database.sql, id, 40)).toBe(true);
  expect(await noteProgress(stage.database.sql, id, 30)).toBe(true);
  expect((await read(id)).progress).toBe(40);
  await cancelAiTask(stage.on, stage.principal, id);
  expect(await noteProgress(stage.database.sql, id, 50)).toBe(false);
  expect(await read(id)).toMatchObject({ progress: 40, status: 'REVOKED' });
});

test('a fourth retry is refused', async () => {
  const id = await taskIn('STARTED');
  for (let retry = 1; retry <= 3; retry++) {
    expect(await stage.advance(id, { to: 'RETRY' })).toBe(true);
    await stage.advance(id, { to: 'STARTED' });
  }
  expect(await stage.advance(id, { to: 'RETRY' })).toBe(false);
  expect(await stage.advance(id, STEPS.FAILURE)).toBe(true);
});

test('of two steps at the same moment that exclude each other one wins', async () => {
  const id = await taskIn('STARTED');
  const steps = [STEPS.SUCCESS, STEPS.FAILURE, STEPS.REVOKED];
  const won = await Promise.all(steps.map((step) => stage.advance(id, step)));
  expect(won.filter(Boolean)).toHaveLength(1);
});

test('an unknown task takes no step', async () => {
  expect(await stage.advance(randomUUID(), { to: 'STARTED' })).toBe(false);
});

test('cancellations of a crowd need no second connection each', async () => {
  const id = await taskIn('REVOKED');
  // More requests than the pool has connections: if each waited for a second connection, none would get it.
  const refusals = await Promise.allSettled(
    Array.from({ length: 100 }, () => cancelAiTask(stage.on, stage.principal, id)),
  );
  for (const refusal of refusals) expect(refusal).toMatchObject({ reason: { name: 'PreconditionFailedError' } });
});
