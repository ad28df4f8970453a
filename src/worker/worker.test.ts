import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { type ChangeFeed, listenForChanges } from '../db/changes.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { livingWorkers } from './heartbeat.ts';
import { startWorker } from './worker.ts';

// Take-over and hand-over of work are tested where there is some: in `convergence` and `ai-tasks/work`.

const log = pino({ level: 'silent' });
let testDatabase: TestDatabase;
let database: Database;
let changes: ChangeFeed;
beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 4);
  changes = await listenForChanges({ connectionString: testDatabase.url });
});
afterAll(async () => {
  await changes?.close();
  await database?.close();
  await testDatabase?.drop();
});

const start = () => startWorker({ database, changes, log });
const living = async () => [...(await livingWorkers(database.sql))];
const silentFor = (id: string, time: string) =>
  database.pool.query('update workers set beat_at = now() - $2::interval where id = $1', [id, time]);

it('counts as alive until it stops, and again when it is heard of after a silence', async () => {
  const worker = await start();
  expect(await living()).toEqual([worker.id]);
  await silentFor(worker.id, '9 seconds');
  expect(await living()).toEqual([]);
  await expect.poll(living, { timeout: 10_000 }).toEqual([worker.id]);
  await worker.stop(0);
  expect(await living()).toEqual([]);
});

it('says what it can do for as long as it lives', async () => {
  const worker = await start();
  await worker.can({ media: true });
  await silentFor(worker.id, '9 seconds');
  await expect.poll(living, { timeout: 10_000 }).toEqual([worker.id]);
  const { rows } = await database.pool.query('select capabilities from workers where id = $1', [worker.id]);
  expect(rows).toEqual([{ capabilities: { media: true } }]);
  await worker.stop(0);
});

it('forgets workers that were silent for an hour, and no others', async () => {
  const [old, recent] = [randomUUID(), randomUUID()];
  for (const id of [old, recent])
    await database.pool.query(`insert into workers (id, host, pid) values ($1, 'elsewhere', 1)`, [id]);
  await silentFor(old, '61 minutes');
  await silentFor(recent, '59 minutes');
  const worker = await start();
  const { rows } = await database.pool.query('select id from workers where id = any($1)', [[old, recent]]);
  expect(rows).toEqual([{ id: recent }]);
  await worker.stop(0);
});
