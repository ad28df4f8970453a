import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Backend, Kind } from '../src/backends/contract/backend.ts';
import { type Database, openDatabase } from '../src/db/database.ts';
import { newSamples } from '../test/backends/samples.ts';
import { createDatabase, type TestDatabase } from '../test/support/databases.ts';
import { secretsOf } from '../test/support/secrets.ts';
import { createSimulatedBackend } from './backend.ts';

let kept: TestDatabase;
let database: Database;
beforeAll(async () => {
  kept = await createDatabase();
  database = openDatabase({ connectionString: kept.url });
});
afterAll(async () => {
  await database?.close();
  await kept?.drop();
});

const about = {
  signal: new AbortController().signal,
  generation: 1,
  wasThere: false,
  log: {} as never,
  secret: async () => undefined,
};

async function begin(backend: Backend, kind: Kind) {
  const { id, spec } = newSamples()[kind];
  const ref = { kind, id, regionId: 1, projectId: 1, handle: null };
  await backend.converge(ref, spec, about);
  return ref;
}

it('looking at a cluster that is being made makes nothing', async () => {
  const backend = createSimulatedBackend({
    sql: database.sql,
    secrets: await secretsOf(database),
    speed: 0.01,
  });
  const ref = await begin(backend, 'cluster');
  const row = async () => (await database.pool.query('select * from simulated_objects where id = $1', [ref.id])).rows;
  const before = await row();
  expect(await backend.observe(ref, about)).toBeNull();
  expect(await row()).toEqual(before);
});

it('what is being removed is not there any more', async () => {
  const backend = createSimulatedBackend({
    sql: database.sql,
    secrets: await secretsOf(database),
    speed: 0.01,
  });
  const ref = await begin(backend, 'volume');
  expect(await backend.observe(ref, about)).toEqual({});
  expect(await backend.converge(ref, null, about)).toMatchObject({ state: 'progressing' });
  expect(await backend.observe(ref, about)).toBeNull();
});

it('a machine that found a host and was never made leaves it', async () => {
  const backend = createSimulatedBackend({
    sql: database.sql,
    secrets: await secretsOf(database),
    speed: 0.01,
    hosts: 1,
  });
  const ref = await begin(backend, 'machine');
  await database.pool.query('delete from simulated_objects where id = $1', [ref.id]);
  expect(await backend.converge(ref, null, about)).toEqual({ state: 'settled', observed: null });
  const left = await database.pool.query('select from simulated_hosts where machine_id = $1', [ref.id]);
  expect(left.rowCount).toBe(0);
});
