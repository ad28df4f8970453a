import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { up } from '../../migrations/0121_refused_at_the_end.ts';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { ConflictError } from '../lib/errors.ts';
import { type ChangeRecord, recordedBy } from '../lib/request-context.ts';
import { createTurns } from '../lib/turns.ts';
import { belongsTo, openDatabase, type PlainDatabase, type Transaction, withSavepoint } from './database.ts';
import { compiledQuery } from './statements.ts';

let place: TestDatabase;
let database: PlainDatabase;
let logged: unknown[] = [];
beforeAll(async () => {
  place = await createDatabase({ empty: true });
  const log = { error: ({ err }: { err: unknown }) => void logged.push(err) };
  database = openDatabase({ connectionString: place.url }, 5, { log });
  await database.pool.query('create table things (name text)');
  await up(database.sql as Kysely<unknown>);
});
beforeEach(async () => {
  logged = [];
  await database.pool.query('truncate things');
});
afterAll(async () => {
  await database?.close();
  await place?.drop();
});

const things = async () => (await database.pool.query('select name from things')).rows;
const deadlock = () => Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });

it('lets a change succeed although what should follow it fails, and logs that', async () => {
  // To repeat the transaction for this error would make the change twice.
  const fault = deadlock();
  const followed: string[] = [];
  const made = await database.transaction(async ({ client, afterCommit }) => {
    await client.query(`insert into things values ('one')`);
    afterCommit(() => {
      throw fault;
    });
    afterCommit(() => void followed.push('one'));
    return 'made';
  });
  expect([made, followed, logged]).toEqual(['made', ['one'], [fault]]);
  expect(await things()).toEqual([{ name: 'one' }]);
});

it('lets a request succeed whose writes fail after the commit', async () => {
  const fault = new Error('nobody listens');
  const record: ChangeRecord = {
    before: async () => {},
    after: async () => {},
    committed: () => {
      throw fault;
    },
    concerns: () => {},
    about: () => {},
    made: () => {},
    started: () => {},
  };
  const made = recordedBy(record, () =>
    database.accept(({ client }) => client.query(`insert into things values ('one')`)),
  );
  expect((await made).rowCount).toBe(1);
  expect(logged).toEqual([fault]);
});

it('lets nothing follow an attempt that was rolled back and repeated', async () => {
  const followed: number[] = [];
  let attempts = 0;
  await database.transaction(async ({ client, afterCommit }) => {
    const attempt = ++attempts;
    afterCommit(() => void followed.push(attempt));
    await client.query(`insert into things values ('attempt ${attempt}')`);
    if (attempt < 3) throw deadlock();
  });
  expect([followed, await things()]).toEqual([[3], [{ name: 'attempt 3' }]]);
});

it('takes no rollback for a commit', async () => {
  const followed: string[] = [];
  const made = database.transaction(async ({ client, afterCommit }) => {
    afterCommit(() => void followed.push('one'));
    await client.query(`insert into things values ('one')`);
    // From here on, PostgreSQL answers "commit" by rolling back.
    await client.query('select 1/0').catch(() => {});
  });
  await expect(made).rejects.toThrow('rolled back');
  expect([followed, await things()]).toEqual([[], []]);
});

describe('what refuses without being waited for', () => {
  const mustHold = compiledQuery((db, { holds }: { holds: boolean }) => sql`select require_that(${holds})`.compile(db));
  /** Refuses all but the first attempts, as they know how. */
  const refusing = (attempts: boolean[]) => async (tx: Transaction) => {
    attempts.push(tx.careful);
    await tx.client.query(`insert into things values ('one')`);
    if (tx.careful) throw new ConflictError('There is one already');
    tx.send(mustHold, { holds: false });
  };

  it('has the change made once more to say why', async () => {
    const attempts: boolean[] = [];
    await expect(database.transaction(refusing(attempts))).rejects.toThrow('There is one already');
    expect([attempts, await things()]).toEqual([[false, true], []]);
  });

  it('has it made if nothing refuses it any more', async () => {
    const attempts: boolean[] = [];
    await database.transaction(async (tx) => {
      attempts.push(tx.careful);
      await tx.client.query(`insert into things values ('one')`);
      tx.send(mustHold, { holds: tx.careful });
    });
    expect([attempts, await things()]).toEqual([[false, true], [{ name: 'one' }]]);
  });

  it('is waited for in the last attempt, whatever made the others fail', async () => {
    const attempts: boolean[] = [];
    const made = database.transaction(async (tx) => {
      if (attempts.push(tx.careful) < 3) throw deadlock();
      await refusing([])(tx);
    });
    await expect(made).rejects.toThrow('There is one already');
    expect(attempts).toEqual([false, false, true]);
  });

  it('is waited for in a part that may fail alone, and in a dry run', async () => {
    const attempts: boolean[] = [];
    await database.transaction(async (tx) => {
      await expect(withSavepoint(tx, refusing(attempts))).rejects.toThrow('There is one already');
    });
    const tried = database.tryOut(refusing(attempts), createTurns(1), async () => {});
    await expect(tried).rejects.toThrow('There is one already');
    expect([attempts, await things()]).toEqual([[true, true], []]);
  });
});

it('plans a statement anew once its table may have grown', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const one = openDatabase({ connectionString: place.url }, 1);
  try {
    await one.pool.query('create table growing (id integer primary key) with (autovacuum_enabled = off)');
    const find = compiledQuery((db, { id }: { id: number }) => sql`select from growing where id = ${id}`.compile(db));
    const plan = async () => {
      // PostgreSQL keeps a plan from the sixth time on.
      for (let id = 0; id < 7; id++) await find(one.sql, { id });
      const { rows } = await one.pool.query(`select name from pg_prepared_statements where statement ~ 'from growing'`);
      const shown = await one.pool.query(`explain execute "${rows[0].name}" (1)`);
      return shown.rows.map((row) => row['QUERY PLAN']).join();
    };
    // As it decides about a table of a few rows with statistics.
    await one.pool.query('insert into growing values (1); analyze growing');
    expect(await plan()).toContain('Seq Scan');
    await one.pool.query('insert into growing select generate_series(2, 20000)');
    expect(await plan()).toContain('Seq Scan');
    now.mockReturnValue(1_000);
    expect(await plan()).toContain('Index');
  } finally {
    now.mockRestore();
    await one.close();
  }
});

it('what belongs to a place is found by its ID, also where most projects have one thing', async () => {
  const one = openDatabase({ connectionString: place.url }, 1);
  try {
    await one.pool.query(
      `create table placed (id uuid primary key, project_id bigint, region_id bigint, created_at timestamptz);
       create index placed_by_age on placed (project_id, region_id, created_at desc, id desc);
       insert into placed select gen_random_uuid(), case when n > 20000 then 1 else n end, 1, now()
         from generate_series(1, 25000) as n;
       analyze placed;
       set plan_cache_mode = force_generic_plan`,
    );
    const condition = belongsTo({ projectId: 1, regionId: 1 });
    const query = sql`select from placed where id = ${''} and ${condition}`.compile(one.sql).sql;
    await one.pool.query(`prepare find as ${query}`);
    const { rows } = await one.pool.query('explain execute find(null, null, null)');
    // PostgreSQL 15 takes the index by age for `isIn`.
    expect(rows.map((row) => row['QUERY PLAN']).join()).toContain('placed_pkey');
  } finally {
    await one.close();
  }
});
