import { EventEmitter, on } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NamedBackend } from '../backends/backends.ts';
import type { Backend } from '../backends/contract/backend.ts';
import { log } from './fixtures/log.ts';
import { progressing, scriptedBackend } from './fixtures/scripted-backend.ts';
import { newId, volume } from './fixtures/specs.ts';
import { openStage, type Stage } from './fixtures/stage.ts';
import { listenToBackends } from './listening.ts';
import { make } from './wants.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage?.close());

test('what a backend tells of is looked at, long before it would be asked again', async () => {
  const scripted = scriptedBackend();
  const cloud = new EventEmitter();
  const backend: Backend = {
    ...scripted,
    async *watch({ signal }) {
      for await (const [id] of on(cloud, 'changed', { signal })) yield { kind: 'volume', id };
    },
  };
  const named: NamedBackend = {
    name: 'telling',
    backend,
    removesOrphans: false,
    regionsOf: () => [1],
    isIn: () => true,
  };
  const listening = listenToBackends({ backends: { all: () => [named] }, database: stage.database, log });
  const [one, other] = [newId(), newId()];
  let ready = false;
  for (const id of [one, other]) scripted.on(id, () => (ready ? undefined : progressing(3_600_000)));
  await stage.worker(backend);
  const tasks = await Promise.all([one, other].map((id) => stage.submit([make('volume', id, volume())])));
  for (const id of [one, other])
    await expect.poll(async () => (await stage.wantOf('volume', id))?.doing).toBe('making it');
  ready = true;
  cloud.emit('changed', newId());
  cloud.emit('changed', one);
  expect(await stage.endOf(tasks[0] ?? '')).toMatchObject({ state: 'FINISHED' });
  expect((await stage.taskOf(tasks[1] ?? '')).state).toBe('RUNNING');
  await listening.stop();
  expect(cloud.listenerCount('changed')).toBe(0);
});
