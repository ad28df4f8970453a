import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { createDatabaseClock, requireSameTime } from './database-clock.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

afterEach(() => void vi.useRealTimers());

/** A real database whose answers come late, and whose clock is off. */
const off = (seconds: number, lateMs = 0) => ({
  query: async (text: string) => {
    const answer = await pool.query(text.replace(')::float8', ` + interval '${seconds} seconds')::float8`));
    await sleep(lateMs);
    return answer;
  },
});
const asPool = (fake: ReturnType<typeof off>) => fake as unknown as Pick<pg.Pool, 'query'>;
const DAY_S = 86_400;

it('is the time of the database, whatever that is', async () => {
  const clock = createDatabaseClock();
  for (const seconds of [0, 7_200, -7_200, 800 * DAY_S, 0]) {
    await clock.compare(asPool(off(seconds)));
    const { rows } = await pool.query(`select clock_timestamp() + interval '${seconds} seconds' as now`);
    expect(Math.abs(clock.now().getTime() - rows[0].now.getTime())).toBeLessThan(60_000);
  }
});

it('stays as it is if an answer does not prove it wrong', async () => {
  const clock = createDatabaseClock();
  await clock.compare(pool);
  const offset = () => Math.round(clock.now().getTime() - performance.now());
  const before = offset();
  await clock.compare(asPool(off(0, 300)));
  expect(Math.abs(offset() - before)).toBeLessThan(5);
});

it('knows the difference of the machine as before if an answer comes too late to prove it', async () => {
  const clock = createDatabaseClock();
  await clock.compare(asPool(off(0.2)));
  const before = clock.aheadMs();
  expect(before).toBeLessThan(-100);
  await clock.compare(asPool(off(0.2, 500)));
  expect(Math.abs(clock.aheadMs() - before)).toBeLessThan(20);
});

it.each([
  ['was set', 0, 'the clock of this machine is 3 hours ahead of that of the database'],
  ['went on while it slept', 3 * 3_600, undefined],
])('does not believe a clock of the machine that jumps: it %s, says the database', async (_, passed, problem) => {
  const clock = createDatabaseClock();
  await clock.compare(pool);
  expect(clock.problem()).toBeUndefined();
  const before = clock.now().getTime();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 3_600_000 });
  expect(clock.now().getTime() - before).toBeLessThan(60_000);
  expect(clock.problem()).toContain('3 hours ahead');
  await clock.compare(asPool(off(passed)));
  expect(Math.abs(clock.now().getTime() - before - passed * 1_000)).toBeLessThan(60_000);
  expect(clock.problem()).toBe(problem);
});

it.each([
  [0, undefined],
  [3, undefined],
  [-3, undefined],
  [60, 'the clock of this machine is 60 seconds behind that of the database'],
  [-7_200, 'the clock of this machine is 2 hours ahead of that of the database'],
  [-800 * DAY_S, 'the clock of this machine is 800 days ahead of that of the database'],
])('refuses a machine that differs too much: a database %s seconds ahead', async (seconds, problem) => {
  const clock = createDatabaseClock();
  const refused = requireSameTime(asPool(off(seconds)), clock).catch(({ message }) => message);
  expect(await refused).toEqual(problem === undefined ? undefined : expect.stringContaining(problem));
  expect(clock.problem()).toBe(problem);
});
