import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { type ChangeFeed, listenForChanges } from '../db/changes.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { claimsIn } from './claims.ts';
import { livingWorkers } from './heartbeat.ts';
import { type Queue, startWorker } from './worker.ts';

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
  await expect.poll(living).toEqual([worker.id]);
  await worker.stop(0);
  expect(await living()).toEqual([]);
});

it('says what it can do for as long as it lives', async () => {
  const worker = await start();
  await worker.can({ media: true });
  await silentFor(worker.id, '9 seconds');
  await expect.poll(living).toEqual([worker.id]);
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

it('lets each queue look for itself while what it asks for all of them fails', async () => {
  const taken: string[] = [];
  const queueOf = (name: string, isDue: Queue['isDue']): Queue => ({
    name,
    topic: name,
    table: 'mails',
    isDue,
    take: async () => {
      taken.push(name);
      return false;
    },
    claimed: async () => new Map(),
    giveBack: async () => {},
    takeFromDead: async () => 0,
  });
  const worker = await start();
  worker.serve(queueOf('sound', () => sql`false`));
  worker.serve(queueOf('broken', () => sql`1 / 0 = 1`));
  await expect.poll(() => taken.filter((name) => name === 'sound').length).toBeGreaterThan(3);
  await worker.stop(0);
  const before = taken.length;
  await sleep(1_500);
  expect(taken.length).toBe(before);
});

it('frees what dead workers have claimed, and asks for that only if there is some', async () => {
  const [dead, task] = [randomUUID(), randomUUID()];
  await database.pool.query(`insert into workers (id, host, pid) values ($1, 'elsewhere', 1)`, [dead]);
  await silentFor(dead, '9 seconds');
  await database.pool.query('alter table deletions drop constraint deletions_client');
  await database.pool.query(
    'insert into deletions (task_id, client_id, worker_id, begun_at) values ($1, 1, $2, now())',
    [task, dead],
  );
  let asked = 0;
  const claims = claimsIn(database.sql, dead, { table: 'deletions', key: 'task_id', count: 'claims' });
  const worker = await start();
  worker.serve({
    ...claims,
    name: 'deletions',
    topic: 'deletions',
    isDue: () => sql`false`,
    take: async () => false,
    takeFromDead() {
      asked += 1;
      return claims.takeFromDead();
    },
  });
  const claimants = async () => (await database.pool.query('select worker_id from deletions')).rows;
  await expect.poll(claimants).toEqual([{ worker_id: null }]);
  await sleep(3_000);
  expect(asked).toBe(1);
  await worker.stop(0);
});
