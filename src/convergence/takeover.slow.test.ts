import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scriptedBackend } from './fixtures/scripted-backend.ts';
import { newId, volume } from './fixtures/specs.ts';
import { openStage, type Stage, until } from './fixtures/stage.ts';
import { make } from './wants.ts';

const script = fileURLToPath(new URL('./fixtures/worker-process.ts', import.meta.url));

let stage: Stage;
let child: ChildProcess;
const backend = scriptedBackend();
const handleOf = (id: string) => backend.toldOf(id)[0]?.handle;

beforeEach(async () => {
  stage = await openStage();
  const env = { ...process.env, CONNECTION: JSON.stringify(stage.connection) };
  child = spawn(process.execPath, ['--import', 'tsx', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout) await once(child.stdout, 'data');
});

afterEach(async () => {
  child.kill('SIGKILL');
  await stage?.close();
});

/** Returns a task that the other process has claimed. */
async function taken(): Promise<{ task: string; id: string }> {
  const id = newId();
  const task = await stage.submit([make('volume', id, volume())]);
  await until(async () => (await stage.wantOf('volume', id))?.doing ?? undefined);
  return { task, id };
}

test('what a killed worker had in hand is taken over, and goes on from where it was', async () => {
  const { task, id } = await taken();
  child.kill('SIGKILL');
  await stage.worker(backend);
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
  expect(handleOf(id)).toBe('made by the first');
  expect(await stage.marksOf(task)).toEqual(['complete']);
  expect(await stage.unfinished()).toEqual([]);
});

test('where nobody else can be alive, all is taken over at the start', async () => {
  const { task } = await taken();
  child.kill('SIGKILL');
  await once(child, 'exit');
  // As if it had just beaten: nobody but that start may take it for dead.
  await stage.database.pool.query(`update workers set beat_at = now() + interval '1 hour'`);
  await stage.worker(backend, { takeOverAllAtStart: true });
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
});

test('a stopping worker hands over at once', async () => {
  const { task, id } = await taken();
  await stage.worker(backend);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
  expect(handleOf(id)).toBe('made by the first');
});

test('a worker that was only stalled finds its work taken over, and changes nothing of it', async () => {
  const { task, id } = await taken();
  child.kill('SIGSTOP');
  await stage.worker(backend);
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
  const before = await stage.wantOf('volume', id);
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(await stage.wantOf('volume', id)).toEqual(before);
  expect(await stage.marksOf(task)).toEqual(['complete']);
});
