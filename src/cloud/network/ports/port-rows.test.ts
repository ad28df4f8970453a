import { randomUUID } from 'node:crypto';
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

/** Returns the steps by which PostgreSQL lists ports, as it decides about a large table. */
async function stepsOf(query: Parameters<typeof listPorts>[2]): Promise<string[]> {
  const asked: CompiledQuery[] = [];
  const log = (event: { query: CompiledQuery }) => void asked.push(event.query);
  const db: Sql = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log });
  await listPorts(db, { projectId: 1, regionId: 1 }, query);
  const [{ sql, parameters } = { sql: '', parameters: [] }] = asked;
  await pool.query('set enable_sort = off; set enable_seqscan = off; set enable_bitmapscan = off');
  const { rows } = await pool.query(`explain ${sql}`, [...parameters]);
  return rows.map((row) =>
    String(row['QUERY PLAN'])
      .replace(/ {2}\(.*/, '')
      .trim(),
  );
}

it('ports come in the order of their index, so that a page of a large account reads no others', async () => {
  const steps = await stepsOf({ limit: 10 });
  const merging = steps.findIndex((step) => step.includes('Merge Append'));
  expect(merging, steps.join('\n')).toBeGreaterThan(0);
  expect(steps.slice(merging)).toContain('->  Index Scan using ports_by_age on ports ports_1');
});

it('ports are not compared with each address of a subnet', async () => {
  const steps = await stepsOf({ limit: 10, subnet_ids: [randomUUID()] });
  expect(steps.filter((step) => step.includes('Semi Join'))).toEqual([]);
});
