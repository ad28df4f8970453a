import { sql as raw } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { type Database, openDatabase } from './database.ts';
import { runPlanned } from './statements.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createDatabase();
  // One connection: it has all plans that are kept.
  database = openDatabase({ connectionString: own.url }, 1);
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

const named = (name: string) =>
  database.sql.selectFrom('resellers').select(['name', 'created_at']).where('name', '=', name);

async function kept(): Promise<number> {
  const { rows } = await database.pool.query('select count(*)::int as count from pg_prepared_statements');
  return rows[0].count;
}

it('keeps one plan for all values, and gets the rows of each', async () => {
  const at = new Date('2026-01-02T03:04:05Z');
  await database.sql
    .insertInto('resellers')
    .values(['first', 'second'].map((name) => ({ name, created_at: at })))
    .execute();
  const before = await kept();
  for (const name of ['first', 'second', 'third', 'first', 'second', 'first', 'second', 'first'])
    expect(await runPlanned(database.sql, named(name))).toEqual(name === 'third' ? [] : [{ name, created_at: at }]);
  expect(await kept()).toBe(before + 1);
});

it('goes on when a newer release adds a column', async () => {
  await runPlanned(database.sql, named('first'));
  await database.pool.query('alter table resellers add column of_a_newer_release text');
  expect(await runPlanned(database.sql, named('first'))).toHaveLength(1);
});

it('works in a transaction', async () => {
  await database.transaction(async (tx) => {
    await tx.sql.insertInto('resellers').values({ name: 'inside', created_at: new Date() }).execute();
    expect(
      await runPlanned(tx.sql, tx.sql.selectFrom('resellers').select('name').where('name', '=', 'inside')),
    ).toEqual([{ name: 'inside' }]);
  });
});

it('keeps no more than a hundred plans', async () => {
  for (let n = 1; n <= 150; n++) {
    const query = database.sql.selectFrom('resellers').select(raw.lit(n).as('n')).where('name', '=', 'first');
    expect(await runPlanned(database.sql, query)).toEqual([{ n }]);
  }
  expect(await kept()).toBeLessThanOrEqual(100);
});
