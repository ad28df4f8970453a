import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { DryRun } from '../lib/request-context.ts';
import { type Database, openDatabase, withDryRuns } from './database.ts';

let place: TestDatabase;
let database: Database;
beforeAll(async () => {
  place = await createDatabase({ empty: true });
  database = withDryRuns(openDatabase({ connectionString: place.url }, 5));
  await database.pool.query('create table things (name text)');
});
afterAll(async () => {
  await database.close();
  await place.drop();
});

it('takes back what is still being done when its client goes', async () => {
  const run = new DryRun();
  await run.within(async () => {
    await database.accept(async ({ client }) => {
      await client.query(`insert into things values ('first')`);
    });
    await database.transaction(async ({ client }) => {
      run.end();
      await run.outside(() => database.pool.query('select pg_sleep(0.1)'));
      await client.query(`insert into things values ('later')`);
    });
  });
  expect((await database.pool.query('select name from things')).rows).toEqual([]);
});

it('closes its connections with the database', async () => {
  const own = withDryRuns(openDatabase({ connectionString: place.url }, 2));
  await own.sql
    .selectFrom('clients')
    .select('id')
    .limit(1)
    .execute()
    .catch(() => {});
  await Promise.all([own.close(), own.close()]);
  expect(own.pool.ended).toBe(true);
});
