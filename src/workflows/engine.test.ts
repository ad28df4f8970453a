import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConflictError } from '../lib/errors.ts';
import { startWorker, TaskFailure, type TaskHandler, type Worker } from './engine.ts';
import { log } from './fixtures/log.ts';
import { openStage, type Stage } from './fixtures/stage.ts';
import { endOf, insertTask, marksOf, stepsHandler, submit, taskOf } from './fixtures/tasks.ts';

let stage: Stage;
let worker: Worker;
let attempts = 0;

/** A task that fails outside of its steps, or whose step fails in the way that the input names. */
const failing: TaskHandler<{ how: string }> = {
  type: 'failing',
  deadlineMs: 60_000,
  async run(run, { how }) {
    await run.step('try', async () => {
      attempts += 1;
      if (how === 'domain') throw new ConflictError('The cluster is not in a state for this');
      if (how === 'twice' && attempts < 3) throw new TaskFailure('away', { retryable: true });
    });
    if (how === 'complete' || how === 'twice') return null;
    throw new Error('secret: stack and all');
  },
  async complete(_tx, _task, { how }) {
    if (how === 'complete') throw new Error('secret: stack and all');
    return null;
  },
  async abandon(tx, { id }, { how }) {
    await tx.client.query(`insert into marks (task_id, step) values ($1, 'abandon')`, [id]);
    if (how === 'abandon') throw new Error('can not be put back');
  },
};

beforeAll(async () => {
  stage = await openStage();
  const { connection, database, changes } = stage;
  const handlers = [stepsHandler(database), failing];
  // Few places, so that a task that keeps its place after its end makes the next tests wait for ever.
  worker = await startWorker({ connection, database, changes, handlers, log, concurrency: 2 });
});

afterAll(async () => {
  await worker?.stop(1_000);
  await stage?.close();
});

async function fail(how: string) {
  attempts = 0;
  const id = await submit(stage, { how } as never, { type: 'failing' });
  return endOf(stage, id);
}

test('a task runs its steps in order and finishes together with what it completes', async () => {
  const id = await submit(stage, { steps: [{ name: 'one' }, { name: 'two' }], sleepMs: 30 });
  const task = await endOf(stage, id);
  expect(task).toMatchObject({
    state: 'FINISHED',
    error: null,
    created_resources: { steps: ['one', 'two'] },
  });
  expect(task.finished_on).toBeInstanceOf(Date);
  expect(await marksOf(stage, id)).toEqual(['one', 'two', 'complete']);
  expect(worker.healthy()).toBe(true);
});

test('a rolled back transaction leaves neither a task nor work', async () => {
  const before = await counts();
  const refused = submit(
    stage,
    { steps: [{ name: 'never' }] },
    {
      sabotage() {
        throw new Error('refused');
      },
    },
  );
  await expect(refused).rejects.toThrow('refused');
  expect(await counts()).toEqual(before);
});

async function counts() {
  const { rows } = await stage.database.pool.query(
    'select (select count(*) from tasks) as tasks, (select count(*) from dbos.workflow_status) as work',
  );
  return rows[0];
}

test.each([
  ['domain', 'The cluster is not in a state for this'],
  [
    'outside',
    /^The task failed because of an internal error\. The server's log has the details under task [0-9a-f-]{36}$/,
  ],
  ['complete', /^The task failed because of an internal error\./],
])(
  'a task that fails (%s) ends ERROR with a reason for people and is abandoned once',
  async (how, reason) => {
    const task = await fail(how);
    expect(task.state).toBe('ERROR');
    expect(task.error).toMatch(reason);
    expect(await marksOf(stage, task.id)).toEqual(['abandon']);
  },
);

test('a step that fails with an internal text names the step and keeps the text to the log', async () => {
  const id = await submit(stage, { steps: [{ name: 'make the network', fail: 'secret at line 7' }] });
  const task = await endOf(stage, id);
  expect(task.error).toMatch(/^Step "make the network" failed because of an internal error\./);
  expect(await marksOf(stage, id)).toEqual(['make the network', 'abandon']);
});

test('a transient fault of a step is tried again', async () => {
  expect(await fail('twice')).toMatchObject({ state: 'FINISHED' });
  expect(attempts).toBe(3);
});

test('a task ends even when putting back fails', async () => {
  const task = await fail('abandon');
  expect(task.state).toBe('ERROR');
  expect(await marksOf(stage, task.id)).toEqual([]);
});

test('a task of a type that nobody knows ends ERROR', async () => {
  const id = await submit(stage, { steps: [] }, { type: 'unheard_of' });
  expect(await endOf(stage, id)).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('unheard_of'),
  });
});

test('a task that hangs ends at its deadline, naming the last step done, and gives its place free', async () => {
  const id = await submit(
    stage,
    { steps: [{ name: 'made' }, { name: 'stuck', hang: true }] },
    { deadlineMs: 600 },
  );
  const task = await endOf(stage, id);
  expect(task.error).toMatch(/^deadline exceeded: .* last step done: "made"$/);
  expect(await marksOf(stage, id)).toEqual(['made', 'stuck', 'abandon']);
});

test('a result that comes after the deadline changes nothing', async () => {
  const id = await submit(stage, { steps: [{ name: 'slow', ms: 2_500 }] }, { deadlineMs: 100 });
  expect(await endOf(stage, id)).toMatchObject({ state: 'ERROR' });
  const next = await submit(stage, { steps: [{ name: 'slow', ms: 3_000 }] });
  await endOf(stage, next);
  expect(await taskOf(stage, id)).toMatchObject({ state: 'ERROR' });
  expect(await marksOf(stage, id)).toEqual(['slow', 'abandon']);
});

test('a cancelled task ends ERROR, also while it sleeps, and one that has ended stays as it is', async () => {
  const sleeping = await submit(stage, { steps: [{ name: 'one' }, { name: 'two' }], sleepMs: 3_600_000 });
  const ended = await submit(stage, { steps: [{ name: 'one' }] });
  await endOf(stage, ended);
  await stage.queue.cancel(sleeping);
  await stage.queue.cancel(ended);
  expect(await endOf(stage, sleeping)).toMatchObject({ state: 'ERROR', error: 'The task was cancelled' });
  expect(await marksOf(stage, sleeping)).toEqual(['one', 'abandon']);
  expect(await taskOf(stage, ended)).toMatchObject({ state: 'FINISHED' });
});

test('a task whose work is missing is ended', async () => {
  const id = randomUUID();
  await stage.database.transaction((tx) => insertTask(tx, id, 'steps', 60_000));
  expect(await endOf(stage, id)).toMatchObject({
    state: 'ERROR',
    error: expect.stringContaining('internal error'),
  });
});

test('a task that keeps killing its workers is given up', async () => {
  const id = randomUUID();
  await stage.database.transaction(async (tx) => {
    await insertTask(tx, id, 'steps', 60_000);
    await stage.queue.enqueue(tx, { id, type: 'steps', input: { steps: [{ name: 'one' }] } });
    await tx.client.query(
      'update dbos.workflow_status set recovery_attempts = 100 where workflow_uuid = $1',
      [id],
    );
  });
  expect(await endOf(stage, id)).toMatchObject({ error: expect.stringContaining('stopped too many times') });
  expect(await marksOf(stage, id)).toEqual(['abandon']);
});

test('work whose announcement was lost is found all the same', async () => {
  const id = await submit(stage, { steps: [{ name: 'one' }] }, { announced: false });
  expect(await endOf(stage, id)).toMatchObject({ state: 'FINISHED' });
});
