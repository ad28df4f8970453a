import { afterAll, beforeAll, expect, it } from 'vitest';
import { newPerson } from '../../../test/support/logins.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { deleteExpired } from '../tokens/store.ts';
import { createGuesses } from './guesses/service.ts';
import { deleteOldLogins } from './store.ts';

let service: TestService;
let database: Database;
beforeAll(async () => {
  service = await borrowService();
  database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

it('logins and login attempts go when they are over, and none before', async () => {
  const person = await newPerson(service.http);
  await deleteOldLogins(database.sql, { now: inDays(0.9), attemptsBefore: inDays(-1) });
  expect((await person.http.get('/iam/activity_log/logins')).body.count).toBe(1);
  await deleteOldLogins(database.sql, { now: inDays(1.1), attemptsBefore: inDays(1) });
  const { rows } = await service.pool.query(
    'select (select count(*)::int from login_sessions) as logins, (select count(*)::int from login_attempts) as attempts',
  );
  expect(rows).toEqual([{ logins: 0, attempts: 0 }]);
});

it('wrong passwords are forgotten after a quarter of an hour', async () => {
  const guesses = createGuesses(database);
  await guesses.take('someone', '192.0.2.1');
  const keys = async () => (await service.pool.query('select key from login_limits')).rowCount;
  const before = await keys();
  await guesses.clean(new Date());
  expect(await keys()).toBe(before);
  await guesses.clean(inDays(1));
  expect(await keys()).toBe(0);
});

it('API tokens that expired 30 days ago are deleted, and no others', async () => {
  const made = async (exp_date: string | null) => {
    const body = { name: 'x', exp_date, client_user: { role: { id: 2 } } };
    return (await service.http.post('/iam/v2/clients/1/tokens', body)).body.id;
  };
  const [old] = [await made(inDays(1).toISOString()), await made(inDays(5).toISOString()), await made(null)];
  await deleteExpired(database.sql, inDays(32));
  const { rows } = await service.pool.query('select id::int from api_tokens where deleted_at is not null order by id');
  expect(rows).toEqual([{ id: old }]);
});
