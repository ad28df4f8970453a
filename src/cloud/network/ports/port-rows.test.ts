import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../../test/support/databases.ts';
import type { Sql } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import { listPorts } from './port-rows.ts';

let place: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  place = await createDatabase();
  pool = new pg.Pool({ connectionString: place.url, max: 1 });
});
afterAll(async () => {
  await pool?.end();
  await place?.drop();
});

it('ports come in the order of their index, so that a page of a large account reads no others', async () => {
  const asked: CompiledQuery[] = [];
  const log = ({ query }: { query: CompiledQuery }) => void asked.push(query);
  const db: Sql = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log });
  await listPorts(db, { projectId: 1, regionId: 1 }, { limit: 10 });
  const [{ sql, parameters } = { sql: '', parameters: [] }] = asked;
  // As it decides about a large table.
  await pool.query('set enable_sort = off; set enable_seqscan = off; set enable_bitmapscan = off');
  const { rows } = await pool.query(`explain ${sql}`, [...parameters]);
  const steps = rows.map((row) =>
    String(row['QUERY PLAN'])
      .replace(/ {2}\(.*/, '')
      .trim(),
  );
  const merging = steps.findIndex((step) => step.includes('Merge Append'));
  expect(merging, steps.join('\n')).toBeGreaterThan(0);
  expect(steps.slice(merging)).toContain('->  Index Scan using ports_by_age on ports ports_1');
});
