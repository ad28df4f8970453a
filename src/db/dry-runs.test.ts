import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { DryRun } from '../lib/request-context.ts';
import { type Database, openDatabase } from './database.ts';

let place: TestDatabase;
let database: Database;
beforeAll(async () => {
  place = await createDatabase({ empty: true });
  database = openDatabase({ connectionString: place.url }, 5);
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
