import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createDatabase } from '../../test/support/databases.ts';
import { openDatabase } from '../db/database.ts';
import { usersOf } from './wants.ts';

const things = (...ids: string[]) => ids.map((id) => ({ kind: 'security_group' as const, id }));

/** Returns how PostgreSQL looks for what needs a thing, once it has decided whether to keep a plan. */
async function decided(makeOthers: string): Promise<{ plan: string; kept: number }> {
  const place = await createDatabase();
  const { sql, pool, close } = openDatabase({ connectionString: place.url }, 1);
  try {
    await pool.query(`insert into wants (kind, id, client_id, project_id, region_id, spec, after, uses) ${makeOthers}`);
    const [group, port, other] = [randomUUID(), randomUUID(), randomUUID()];
    await pool.query(
      `insert into wants (kind, id, client_id, project_id, region_id, spec, after, uses)
       values ('port', $1, 1, 1, 1, '{}', '{}', array['security_group:' || $2, 'network:' || $3])`,
      [port, group, other],
    );
    await pool.query('analyze wants');
    for (let n = 0; n < 7; n++) {
      expect(await usersOf(sql, things(other, group))).toEqual([{ kind: 'port', id: port }]);
      expect(await usersOf(sql, things(other))).toEqual([]);
    }
    const { rows } = await pool.query(
      `select name, generic_plans::int as kept from pg_prepared_statements where statement ~ 'uses &&'`,
    );
    const shown = await pool.query(`explain execute "${rows[0].name}" ('{security_group:${other}}')`);
    return { plan: shown.rows.map((row) => row['QUERY PLAN']).join('\n'), kept: rows[0].kept };
  } finally {
    await close();
    await place.drop();
  }
}

it('what needs a thing is found by the index where next to nothing needs anything', async () => {
  const { plan } = await decided(
    `select 'security_group', gen_random_uuid(), 1, 1, 1, '{}', '{}', '{}' from generate_series(1, 3000)`,
  );
  expect(plan).toContain('Bitmap Index Scan on wants_by_use');
});

it('what needs a thing is found by a plan that is kept', async () => {
  const { plan, kept } = await decided(
    `select 'port', gen_random_uuid(), 1, 1, 1, '{}', '{}', array['network:' || n % 50, 'security_group:' || n % 1000]
     from generate_series(1, 20000) as n`,
  );
  expect(plan).toContain('Bitmap Index Scan on wants_by_use');
  expect(kept).toBeGreaterThan(0);
});
