import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { startRemovalTime } from './clocks.ts';

const HOUR_MS = 3_600_000;
const log = pino({ level: 'silent' });

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
const clock = { now: () => new Date(), problem: () => undefined };
const start = () => startRemovalTime({ database: { pool }, clock, databaseClock: clock, log });
const reached = (text: string) => pool.query(`update removal_time set until = ${text}`);
const until = async (): Promise<Date> => (await pool.query('select until from removal_time')).rows[0].until;
const ageOf = (time: Date) => Date.now() - time.getTime();

it('is the time of the database while processes work', async () => {
  await reached(`now() - interval '10 minutes'`);
  const time = await start();
  await time.stop();
  expect(ageOf(time.now())).toBeGreaterThan(9 * 60_000);
  expect(ageOf(time.now())).toBeLessThan(HOUR_MS);
  expect(time.problem()).toBeUndefined();
});

it('does not jump with the clock of the database, and says so, however many processes start', async () => {
  await reached(`now() - interval '800 days'`);
  for (let starts = 0; starts < 5; starts++) {
    const time = await start();
    await time.stop();
    expect(ageOf(time.now())).toBeGreaterThan(799 * 24 * HOUR_MS);
    expect(time.problem()).toContain('catches up by a day in an hour');
    expect(time.lateMs()).toBeGreaterThan(799 * 24 * HOUR_MS);
  }
  expect(ageOf(await until())).toBeGreaterThan(799 * 24 * HOUR_MS);
});

it('is never later than the clock of the database, which may have been set back', async () => {
  await reached(`now() + interval '800 days'`);
  const time = await start();
  await time.stop();
  expect(ageOf(time.now())).toBeGreaterThan(-60_000);
  expect(time.problem()).toBeUndefined();
});
