import { afterAll, beforeAll, expect, it } from 'vitest';
import { bearer, comes, logIn, newPerson } from '../../../test/support/logins.ts';
import { addApp } from '../../../test/support/second-factors.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { deleteExpired } from '../tokens/store.ts';
import { createGuesses } from './guesses/service.ts';
import { deleteOld } from './second-factors/store.ts';
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

it('second factors and recovery codes go with their user, or after the account, and no others', async () => {
  const [host, stays] = [await newPerson(service.http), await newPerson(service.http)];
  const email = `deleted-${host.email}`;
  const userId = await comes(host, email);
  const left = async () => {
    const counts = await service.pool.query(
      `select user_id::int, count(*)::int as codes, (select count(*)::int from second_factors of where of.user_id = codes.user_id) as factors
         from recovery_codes codes where user_id = any($1) group by user_id order by user_id`,
      [[host.userId, stays.userId, userId]],
    );
    return counts.rows;
  };
  for (const http of [host.http, stays.http, bearer(service.url, await logIn(service.anonymous, email))]) {
    await addApp({ http });
  }
  const all = await left();
  expect(all).toHaveLength(3);
  expect((await host.http.delete(`/iam/clients/${host.clientId}/client-users/${userId}`)).status).toBe(200);
  const without = (id: number) => all.filter(({ user_id }) => user_id !== userId && user_id !== id);
  expect(await left()).toEqual(without(0));
  await service.pool.query('update users set deleted_at = now() where id = $1', [host.userId]);
  await database.transaction((tx) => deleteOld(tx, new Date()));
  expect(await left()).toEqual(without(host.userId));
  expect(without(host.userId)).toEqual([{ user_id: stays.userId, codes: 10, factors: 1 }]);
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
