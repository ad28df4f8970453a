import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { loadCatalog } from '../cloud/ground/catalog/service.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createDatabaseClock } from '../db/database-clock.ts';
import { outageNamed } from '../db/outages.ts';
import { systemClock } from '../lib/time.ts';
import { removalTimeOf } from './clocks.ts';
import type { Role } from './command.ts';
import { createReadiness } from './readiness.ts';

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

async function readiness(role: Role, problem?: string) {
  const catalog = await loadCatalog('catalog');
  const live = { catalog, problem: () => problem, stop: async () => {} };
  const worker = { troubles: () => ({ nova: 'it sleeps' }) };
  const clocks = { databaseClock: createDatabaseClock(), removalTime: removalTimeOf(systemClock) };
  return createReadiness({ database, role, live, worker, clocks, folder: undefined });
}

const check = async (role: Role, problem?: string) => (await readiness(role, problem)).check();

it('asks for a worker where the process has to have one; elsewhere its lack is told, and here that of backends', async () => {
  expect(await check('all')).toMatchObject({
    problems: { workers: expect.any(String) },
    degraded: { 'backend nova': 'it sleeps' },
  });
  const api = await check('api');
  expect(api.degraded).toEqual({ workers: expect.stringContaining('--role worker') });
  expect(Object.values(api.problems).filter((problem) => problem !== undefined)).toEqual([]);
});

it('asks for the catalogue in force in every role', async () => {
  for (const role of ['api', 'all'] as const)
    expect((await check(role, 'unreadable')).problems.catalog).toBe('unreadable');
});

it('looks once for all who ask together, and anew for the next', async () => {
  const { check } = await readiness('all');
  const query = vi.spyOn(database.pool, 'query');
  await check();
  const each = query.mock.calls.length;
  await Promise.all(Array.from({ length: 50 }, check));
  expect(query).toHaveBeenCalledTimes(2 * each);
  query.mockRestore();
});

it('tells of work that is left undone, and no names', async () => {
  const { pool } = database;
  await pool.query(`
    insert into mails (id, client_id, kind, receiver, created_at, due_at, expires_at, attempts, fault)
    values (gen_random_uuid(), 1, 'new_login', 'jo@example.com', now(), now() + interval '1 hour', now() + interval '2 days', 1, 'refused')`);
  await pool.query(`
    insert into user_actions
      (client_id, user_id, "timestamp", request_id, method, operation, path, outcome, status, source_user_ip)
    values (1, 1, now() - interval '3 hours', gen_random_uuid(), 'GET', 'x', '/', 'accepted', 200, '127.0.0.1')`);
  const { degraded } = await check('all');
  expect(degraded).toMatchObject({
    mails: "mails that can't be sent and are tried again: 1; given up in the last hour: 0",
    audit: 'records of the audit log have not been sealed for 3 hours',
  });
  expect(JSON.stringify(degraded)).not.toContain('example.com');
});

it('tells a full disk, with which reads are still answered, from a database that does not answer', async () => {
  expect((await check('api')).degraded).toMatchObject({ disk: undefined });
  // As PostgreSQL says it.
  const full = `do $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`;
  const refused = await database.transaction(({ client }) => client.query(full)).catch((error: Error) => error);
  expect(outageNamed(refused as Error).message).toContain('The disk of the database is full');
  const { problems, degraded } = await check('api');
  expect(degraded).toMatchObject({ disk: expect.stringContaining('nothing can be changed') });
  expect(Object.values(problems).filter((problem) => problem !== undefined)).toEqual([]);
});
