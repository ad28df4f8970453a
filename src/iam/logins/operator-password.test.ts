import { afterAll, beforeAll, expect, it } from 'vitest';
import { anyEmail, bearer, logIn, newPerson, PASSWORD } from '../../../test/support/logins.ts';
import { addApp } from '../../../test/support/second-factors.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { systemClock as clock } from '../../lib/time.ts';
import { requireUserOf, setPasswordOf } from './operator-password.ts';

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

it('gives the platform administrator a first password, and a better address', async () => {
  const answer = await setPasswordOf({ database, clock }, { password: PASSWORD, rename: 'root@example.com' });
  expect(answer).toEqual({ email: 'root@example.com', second_factor: false });
  const root = bearer(service.url, await logIn(service.anonymous, 'root@example.com'));
  expect((await root.get('/iam/clients')).status).toBe(200);
  expect((await root.get('/iam/clients/me')).body.email).toBe('root@example.com');
});

it('ends the logins of a user whom it gives a new one', async () => {
  const user = await newPerson(service.http);
  await setPasswordOf({ database, clock }, { email: user.email, password: 'another good one' });
  await expect.poll(async () => (await user.http.get('/iam/clients/me')).status).toBe(401);
  await logIn(service.anonymous, user.email, 'another good one');
});

it('ends a login that came with the former password a moment before', async () => {
  const user = await newPerson(service.http);
  const holder = await service.pool.connect();
  // The login is recorded here once its password was compared.
  await holder.query('begin; lock table login_attempts in share mode');
  const login = service.anonymous.post('/iam/auth/jwt/login', { username: user.email, password: PASSWORD });
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(1);
  await setPasswordOf({ database, clock }, { email: user.email, password: 'another good one' });
  await holder.query('rollback');
  holder.release();
  const { status, body } = await login;
  expect([status, Object.keys(body.errors ?? {})]).toEqual([400, ['errors']]);
});

it('leaves second factors alone, unless they are to go too', async () => {
  const user = await newPerson(service.http);
  await addApp(user);
  const { email } = user;
  const password = 'another good one';
  expect(await setPasswordOf({ database, clock }, { email, password })).toEqual({ email, second_factor: true });
  const login = () => service.anonymous.post('/iam/auth/jwt/login', { username: email, password });
  expect((await login()).status).toBe(401);
  const removed = await setPasswordOf({ database, clock }, { email, password, removeSecondFactors: true });
  expect(removed).toEqual({ email, second_factor: false });
  expect((await login()).status).toBe(200);
});

it('knows before a password is asked for whether there is such a user', async () => {
  await expect(requireUserOf({ database }, { email: 'nobody@example.com' })).rejects.toThrow(NotFoundError);
  await expect(requireUserOf({ database }, { rename: 'no address' })).rejects.toThrow(InvalidError);
  await requireUserOf({ database }, {});
});

it('refuses a short password, an unknown user and an address that is taken', async () => {
  const user = await newPerson(service.http);
  const set = (wanted: { email?: string; rename?: string; password?: string }) =>
    setPasswordOf({ database, clock }, { password: PASSWORD, ...wanted });
  await expect(set({ password: 'short' })).rejects.toThrow(InvalidError);
  await expect(set({ email: 'nobody@example.com' })).rejects.toThrow(NotFoundError);
  await expect(set({ rename: user.email.toUpperCase() })).rejects.toThrow(InvalidError);
});

it('is told the address that a user had before', async () => {
  const user = await newPerson(service.http);
  expect(await requireUserOf({ database }, { email: user.email })).toBeUndefined();
  const rename = anyEmail();
  await setPasswordOf({ database, clock }, { email: user.email, rename, password: PASSWORD });
  const { rows } = await service.pool.query(
    `select to_char(email_changed_at at time zone 'UTC', 'YYYY-MM-DD') as day from users where email = $1`,
    [rename],
  );
  expect(await requireUserOf({ database }, { email: rename })).toBe(
    `Until ${rows[0].day} the address of this user was ${user.email}: verify who is asking`,
  );
});
