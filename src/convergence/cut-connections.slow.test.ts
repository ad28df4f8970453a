import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refused } from '../backends/contract/backend.ts';
import { type Cut, openCutDatabase } from './fixtures/cut-connections.ts';
import { progressing, scriptedBackend } from './fixtures/scripted-backend.ts';
import { network, newId, port, volume } from './fixtures/specs.ts';
import { openStage, type Stage, until } from './fixtures/stage.ts';
import { change, make, remove } from './wants.ts';

let stage: Stage;
const backend = scriptedBackend();

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => stage?.close());

/** A creation with an order, a change that is refused, and a removal: every path through the engine. */
async function everyWay(): Promise<void> {
  const [netId, portId, diskId] = [newId(), newId(), newId()];
  backend.on(netId, ({ times }) => (times === 1 ? progressing() : undefined));
  backend.on(diskId, ({ spec }) => {
    if ((spec as { sizeGib: number } | null)?.sizeGib === 9) throw new Refused('no room for it');
    return undefined;
  });
  const made = await stage.submit([
    make('network', netId, network()),
    make('port', portId, port(netId)),
    make('volume', diskId, volume()),
  ]);
  expect(await stage.endOf(made)).toMatchObject({ state: 'FINISHED' });
  expect(await stage.marksOf(made)).toEqual(['complete']);
  const refused = await stage.submit([change('volume', diskId, (spec) => ({ ...spec, sizeGib: 9 }))]);
  expect(await stage.endOf(refused)).toMatchObject({
    state: 'ERROR',
    error: `volume ${diskId}: no room for it`,
  });
  expect(await stage.marksOf(refused)).toEqual([`abandon: volume ${diskId}: no room for it`]);
  expect(await stage.settled('volume', diskId)).toMatchObject({ spec: volume() });
  const all = [remove('network', netId), remove('port', portId), remove('volume', diskId)];
  const removed = await stage.submit(all, { type: 'removing' });
  expect(await stage.endOf(removed)).toMatchObject({ state: 'FINISHED' });
  expect(await stage.marksOf(removed)).toEqual(['complete']);
  await until(async () => (await stage.unfinished()).length === 0 || undefined);
  expect(backend.there.size).toBe(0);
}

/** Parts of the statements that the engine sends to the database on these paths. */
const STATEMENTS = [
  'with due as',
  "set state = 'RUNNING'",
  'from wants join unnest',
  'uses @>',
  'set doing =',
  'set worker_id = null, handle',
  'select tasks.id',
  'begin',
  'for update',
  'insert into marks',
  'with ended as',
  'with former as',
  'savepoint part',
  'with given as',
  'delete from "task_wants"',
  'commit',
];

describe.each<Cut>(['before', 'after'])('a connection that is cut %s the statement', (cut) => {
  test.each(STATEMENTS)('%s', async (part) => {
    const its = openCutDatabase(stage.connection, part, cut);
    const worker = await stage.worker(backend, { database: its.database, claims: its.database });
    await everyWay();
    await worker.stop(1_000);
    await its.close();
    expect(its.wasCut()).toBe(true);
  });
});

test('nothing is lost and nothing hangs when all connections are cut again and again', async () => {
  for (let count = 0; count < 3; count++) await stage.worker(backend);
  const killing = new AbortController();
  const killer = (async () => {
    while (!killing.signal.aborted) {
      await stage.database.pool
        .query(`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tradewind%'`)
        .catch(() => {});
      await delay(150);
    }
  })();
  const tasks: string[] = [];
  while (tasks.length < 100) {
    const wants = [newId(), newId()].map((id) => make('volume', id, volume()));
    // A request that broke while it was being accepted has no task.
    const id = await stage.submit(wants).catch(() => undefined);
    if (id !== undefined) tasks.push(id);
  }
  killing.abort();
  await killer;
  for (const id of tasks) {
    expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
    expect(await stage.marksOf(id)).toEqual(['complete']);
  }
  await until(async () => (await stage.unfinished()).length === 0 || undefined);
});
