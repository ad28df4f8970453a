import fs from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';

let empty: TestDatabase;
let database: Database;
beforeAll(async () => {
  empty = await createDatabase({ empty: true });
  database = openDatabase({ connectionString: empty.url }, 2);
});
afterAll(async () => {
  await database.close();
  await empty.drop();
});

it('builds the schema from nothing, and a second run changes nothing', async () => {
  const files = fs.readdirSync('migrations').filter((name) => /^\d{4}_.*(?<!\.test)\.ts$/.test(name));
  expect(await migrate(database)).toEqual(files.map((name) => name.replace(/\.ts$/, '')).sort());
  const built = await schemaOf(database);
  expect(built.length).toBeGreaterThan(100);
  expect(await migrate(database)).toEqual([]);
  expect(await schemaOf(database)).toEqual(built);
});

it('backs every foreign key with an index, but those to users and resellers, which are never deleted', async () => {
  const { rows } = await database.pool.query(`
    select conrelid::regclass || '.' || conname as key from pg_constraint c
    where contype = 'f' and connamespace = 'public'::regnamespace
      and confrelid not in ('users'::regclass, 'resellers'::regclass) and not exists (
      select from pg_index i where i.indrelid = c.conrelid
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] <@ c.conkey
    ) order by 1`);
  expect(rows.map(({ key }) => key)).toEqual([]);
});

/** Returns columns, indexes and constraints as PostgreSQL describes them. */
async function schemaOf({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select name from kysely_migration
    order by 1`);
  return rows.map(({ line }) => line);
}
