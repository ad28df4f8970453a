import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { loadCatalog } from '../cloud/ground/catalog/service.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createDatabaseClock } from '../db/database-clock.ts';
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
  return createReadiness({ database, role, live, worker, clocks });
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
