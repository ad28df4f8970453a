import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase, type Transaction, TURN } from '../src/db/database.ts';
import { ConflictError } from '../src/lib/errors.ts';
import { createDatabase, type TestDatabase } from '../test/support/databases.ts';
import { createTurns } from './turns.ts';

let testDatabase: TestDatabase;
let database: Database;
let other: pg.Client;
beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
  other = new pg.Client({ connectionString: testDatabase.url });
  await other.connect();
});
afterAll(async () => {
  await other?.end();
  await database?.close();
  await testDatabase?.drop();
});

const lockProjects = async (client: Transaction['client']) => client.query('lock table projects');
const holdTurn = () => other.query(`select pg_advisory_lock_shared(${TURN})`);
const letGo = () => other.query(`select pg_advisory_unlock_shared(${TURN})`);

it('says what is busy if it never gets its turn', async () => {
  const alone = createTurns(database, 100);
  await holdTurn();
  const error = await alone(lockProjects, async () => {}).catch((fault: unknown) => fault);
  await letGo();
  expect(error).toBeInstanceOf(ConflictError);
  expect(error).toMatchObject({ message: expect.stringContaining('let them end, and try again') });
  expect(await alone(lockProjects, async () => 'done')).toBe('done');
});

it('waits for its turn again after a deadlock has undone its work', async () => {
  const alone = createTurns(database);
  let holding: Promise<unknown> | undefined;
  const done = alone(lockProjects, async ({ client }) => {
    if (holding) return 'done';
    holding = holdTurn();
    const waiting = `select from pg_locks where locktype = 'advisory' and not granted`;
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
    await client.query(`do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`);
  });
  done.catch(() => {});
  await expect.poll(() => holding).toBeDefined();
  await holding;
  // Longer than it waits at a time.
  await sleep(1_500);
  await letGo();
  expect(await done).toBe('done');
});
