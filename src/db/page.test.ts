import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import type { PageQuery } from '../lib/page.ts';
import { onBehalfOf } from '../lib/request-context.ts';
import { type Database, openDatabase } from './database.ts';
import { forgetCounts, pageByIds, pageWithCount, plannedPage } from './page.ts';

const ROWS = 23;

let place: TestDatabase;
let database: Database;
let db: Kysely<{ things: { id: number; at: number; kind: string } }>;
beforeAll(async () => {
  place = await createDatabase({ empty: true });
  database = openDatabase({ connectionString: place.url }, 5);
  db = database.sql as unknown as typeof db;
  // Three of each time, and two kinds.
  await database.pool.query(`create table things as
    select number as id, number / 3 as at, case when number % 2 = 0 then 'even' else 'odd' end as kind
    from generate_series(1, ${ROWS}) as number`);
  await database.pool.query('create sequence looks');
});
afterAll(async () => {
  await database.close();
  await place.drop();
});

/** Every row that is looked at takes a number of a sequence. */
function page(direction: 'asc' | 'desc', query: { offset?: number; limit?: number }, kind?: string, on = db) {
  const ids = (order: 'asc' | 'desc') => {
    const all = on.selectFrom('things').select('id').orderBy('at', order).orderBy('id', order);
    const looked = all.where(sql<boolean>`nextval('looks') > 0`);
    return kind ? looked.where('kind', '=', kind) : looked;
  };
  const read = (wanted: number[]) =>
    on.selectFrom('things').select(['id', 'kind']).where('id', 'in', wanted).orderBy('kind').execute();
  return pageByIds(ids, { ...query, direction }, 10, read);
}

describe.each(['asc', 'desc'] as const)('a page by ids, %sending', (direction) => {
  it.each([undefined, 'even', 'odd', 'none'])('is the same from either end (kind %s)', async (kind) => {
    const all = await db.selectFrom('things').selectAll().orderBy('at').orderBy('id').execute();
    const wanted = all.filter((row) => !kind || row.kind === kind).map(({ id }) => id);
    if (direction === 'desc') wanted.reverse();
    for (const limit of [undefined, 1, 4, 100]) {
      for (let offset = 0; offset <= ROWS + 2; offset++) {
        const { count, rows } = await page(direction, { offset, ...(limit && { limit }) }, kind);
        const shown = rows.map(({ id }) => id);
        expect([count, shown], `${limit} from ${offset}`).toEqual([
          wanted.length,
          wanted.slice(offset, offset + (limit ?? 10)),
        ]);
      }
    }
  });
});

it('looks at half of the rows at most to find a late page', async () => {
  await database.pool.query('create index things_in_order on things (at, id)');
  const looks = async (offset: number) => {
    await database.pool.query('alter sequence looks restart');
    await db.transaction().execute(async (tx) => {
      // Such a small table is sorted otherwise.
      await sql`set local enable_sort = off`.execute(tx);
      await page('desc', { offset, limit: 2 }, undefined, tx);
    });
    const { rows } = await database.pool.query('select last_value::integer as looks from looks');
    return rows[0].looks - ROWS;
  };
  expect([await looks(1), await looks(11), await looks(20)]).toEqual([3, 12, 3]);
});

it('finds one far page of an account at a time', async () => {
  const blocker = new pg.Client({ connectionString: place.url });
  await blocker.connect();
  await blocker.query('begin; lock table things in access exclusive mode');
  const waiting = async () => {
    const { rows } = await database.pool.query(
      `select count(*)::integer as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows[0].count;
  };
  const far = (account: number) => onBehalfOf(account, () => page('desc', { offset: 1_000, limit: 2 }));
  try {
    const pages = [far(1), far(1)];
    await expect.poll(waiting).toBe(1);
    pages.push(far(2));
    await expect.poll(waiting).toBe(2);
    await blocker.query('rollback');
    for (const { count } of await Promise.all(pages)) expect(count).toBe(ROWS);
  } finally {
    await blocker.end();
  }
});

it('is the same where its count is part of the statement', async () => {
  const ordered = db.selectFrom('things').select(['id', 'kind']).orderBy('at').orderBy('id');
  for (const rows of [ordered, ordered.where('kind', '=', 'even'), ordered.where('kind', '=', 'none')]) {
    for (const query of [
      {},
      { limit: 4 },
      { offset: 2, limit: ROWS },
      { offset: 20, limit: 3 },
      { offset: ROWS + 1 },
    ]) {
      expect(await plannedPage(database.sql, rows, query, 10)).toEqual(await pageWithCount(rows, query, 10));
    }
  }
});

type Rows = Parameters<typeof plannedPage<{ things: { id: number } }, 'things', { id: number }>>[1];
const ways = {
  'of a page': (rows: Rows, query: PageQuery) => pageWithCount(rows, query),
  'of a planned page': (rows: Rows, query: PageQuery) => plannedPage(database.sql, rows, query, 10),
};

describe.each(Object.entries(ways))('the count %s of a long list', (_name, pageOf) => {
  const MANY = 10_001;
  const many = () =>
    db
      .selectFrom('many' as 'things')
      .select('id')
      .orderBy('id');
  const counted = async (rows = many()) => (await pageOf(rows, { limit: 3 })).count;
  const add = async (count: number) => {
    await database.pool.query(`insert into many (id) select ${count} from generate_series(1, ${count})`);
  };
  beforeAll(async () => {
    await database.pool.query(`create table many as select number as id from generate_series(1, ${MANY}) as number`);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    forgetCounts();
  });
  afterAll(() => database.pool.query('drop table many'));

  it('is remembered, and counted anew behind the answer that comes later', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    expect(await counted()).toBe(MANY);
    await add(5);
    expect(await counted()).toBe(MANY);
    now.mockReturnValue(3_000);
    expect(await counted()).toBe(MANY);
    await expect.poll(counted).toBe(MANY + 5);
  });

  it('is remembered from a page past the end as well', async () => {
    const past = async () => (await pageOf(many(), { limit: 3, offset: 1_000_000 })).count;
    const before = await past();
    await add(5);
    expect(await past()).toBe(before);
  });

  it('is at least that of the rows that are shown', async () => {
    const before = await counted();
    await add(5);
    const { count, rows } = await pageOf(many(), { limit: 4, offset: before });
    expect([count, rows.length]).toEqual([before + 4, 4]);
  });

  it('is never older than a minute', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const before = await counted();
    await add(5);
    now.mockReturnValue(60_001);
    expect(await counted()).toBe(before + 5);
  });

  it('is exact once everything is forgotten, and for up to 10,000 rows', async () => {
    const before = await counted();
    const few = many().where('id', '<=', 5_000);
    const fewBefore = await counted(few);
    await add(5);
    expect(await counted()).toBe(before);
    expect(await counted(few)).toBe(fewBefore + 5);
    forgetCounts();
    expect(await counted()).toBe(before + 5);
  });
});
