import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWorker, type Worker } from './engine.ts';
import { log } from './fixtures/log.ts';
import { openStage, type Stage } from './fixtures/stage.ts';
import { endOf, marksOf, stepsHandler, submit, taskOf } from './fixtures/tasks.ts';

const script = fileURLToPath(new URL('./fixtures/worker-process.ts', import.meta.url));
const TAKEN_OVER_WITHIN_MS = 15_000;

let stage: Stage;
let survivor: Worker | undefined;
const children: ChildProcess[] = [];

beforeAll(async () => {
  stage = await openStage();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await survivor?.stop(1_000);
  survivor = undefined;
});

afterAll(() => stage?.close());

async function startChild(): Promise<ChildProcess> {
  const env = { ...process.env, CONNECTION: JSON.stringify(stage.connection) };
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

async function startHere(takeOverAllAtStart = false): Promise<void> {
  const { connection, database, changes } = stage;
  const handlers = [stepsHandler(database)];
  survivor = await startWorker({ connection, database, changes, handlers, log, takeOverAllAtStart });
}

async function untilMarked(id: string, count: number): Promise<void> {
  while ((await marksOf(stage, id)).length < count) await delay(10);
}

async function untilAsleep(id: string): Promise<void> {
  const recorded = `select from dbos.operation_outputs where workflow_uuid = $1 and function_name = 'DBOS.sleep'`;
  while ((await stage.database.pool.query(recorded, [id])).rowCount === 0) await delay(10);
}

const threeSteps = {
  steps: [{ name: 'one' }, { name: 'two', ms: 1_500 }, { name: 'three' }],
};

test('the task of a killed worker is taken over, and the steps it recorded are not run again', async () => {
  const child = await startChild();
  const id = await submit(stage, threeSteps);
  await untilMarked(id, 2);
  child.kill('SIGKILL');
  const killed = Date.now();
  await startHere();
  expect(await endOf(stage, id)).toMatchObject({ state: 'FINISHED' });
  expect(Date.now() - killed).toBeLessThan(TAKEN_OVER_WITHIN_MS);
  // Step two was at work when its process died: only such a step runs again.
  expect(await marksOf(stage, id)).toEqual(['one', 'two', 'two', 'three', 'complete']);
});

test('where nobody else can be alive, unfinished work is taken over at the start', async () => {
  const child = await startChild();
  const id = await submit(stage, { steps: [{ name: 'one' }, { name: 'two' }], sleepMs: 1_000 });
  await untilAsleep(id);
  child.kill('SIGKILL');
  await startHere(true);
  expect(await endOf(stage, id)).toMatchObject({ state: 'FINISHED' });
  expect(await marksOf(stage, id)).toEqual(['one', 'two', 'complete']);
});

test('a stopping worker ends its step and hands the rest over at once', async () => {
  const child = await startChild();
  const id = await submit(stage, threeSteps);
  await untilMarked(id, 2);
  await startHere();
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  const task = await endOf(stage, id);
  expect(task.state).toBe('FINISHED');
  expect(await marksOf(stage, id)).toEqual(['one', 'two', 'three', 'complete']);
  const { rows } = await stage.database.pool.query('select pid from marks where task_id = $1 order by n', [
    id,
  ]);
  expect(rows.map((row) => row.pid)).toEqual([child.pid, child.pid, process.pid, process.pid]);
});

test('a sleeping task is handed over by a stopping worker without waiting for its sleep', async () => {
  const child = await startChild();
  const id = await submit(stage, { steps: [{ name: 'one' }, { name: 'two' }], sleepMs: 1_500 });
  await untilAsleep(id);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(await taskOf(stage, id)).toMatchObject({ state: 'RUNNING' });
  const { rows } = await stage.database.pool.query(
    'select status from dbos.workflow_status where workflow_uuid = $1',
    [id],
  );
  expect(rows).toEqual([{ status: 'ENQUEUED' }]);
  await startHere();
  expect(await endOf(stage, id)).toMatchObject({ state: 'FINISHED' });
  expect(await marksOf(stage, id)).toEqual(['one', 'two', 'complete']);
});

test('a worker that was only stalled finds its task taken over, and does not go on with it', async () => {
  const child = await startChild();
  const id = await submit(stage, threeSteps);
  await untilMarked(id, 2);
  child.kill('SIGSTOP');
  await startHere();
  expect(await endOf(stage, id)).toMatchObject({ state: 'FINISHED' });
  child.kill('SIGCONT');
  // Long enough to go on with the third step, if it did.
  await delay(500);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(await marksOf(stage, id)).toEqual(['one', 'two', 'two', 'three', 'complete']);
});
