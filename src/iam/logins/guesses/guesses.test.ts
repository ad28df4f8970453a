import { afterAll, beforeAll, expect, it } from 'vitest';
import { logIn, newPerson, PASSWORD } from '../../../../test/support/logins.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { TooManyRequestsError } from '../../../lib/errors.ts';
import { createGuesses, type Guesses, MOST_OF_ONE_ADDRESS } from './service.ts';

let service: TestService;
let guesses: Guesses;
beforeAll(async () => {
  service = await borrowService();
  guesses = createGuesses({ pool: service.pool });
});
afterAll(() => service?.stop());

/** Returns the result of a guess, or undefined if none is left. */
const guess = async (username: string, address: string) => {
  const outcome = await guesses.take(username, address).catch((fault: unknown) => fault);
  if (typeof outcome === 'function') return outcome as () => Promise<void>;
  expect(outcome).toBeInstanceOf(TooManyRequestsError);
  return undefined;
};
const refused = async (username: string, address: string) => (await guess(username, address)) === undefined;

it('one address guesses the passwords of a hundred users, not of all', async () => {
  const guesses = [];
  for (let n = 0; n < MOST_OF_ONE_ADDRESS; n++) guesses.push(await guess(`user ${n}`, '192.0.2.1'));
  expect(guesses).not.toContain(undefined);
  expect(await refused('another', '::ffff:192.0.2.1')).toBe(true);
  expect(await refused('another', '192.0.2.2')).toBe(false);
  // Several guesses were refused; a correct one gives one guess back.
  await guesses[7]?.();
  expect(await refused('yet another', '192.0.2.1')).toBe(true);
});

it('an address that is shut lets in whoever logged in well from there, with five guesses of their own', async () => {
  const user = await newPerson(service.http);
  const login = (username: string, password: string) =>
    service.anonymous.post('/iam/auth/jwt/login', { username, password });
  for (let n = 0; n < MOST_OF_ONE_ADDRESS; n++) await guesses.take(`stranger ${n}`, '127.0.0.1').catch(() => {});
  expect((await login('somebody@example.com', 'wrong')).status).toBe(429);
  await logIn(service.anonymous, user.email);
  const statuses = [];
  for (let n = 0; n < 6; n++) statuses.push((await login(user.email, 'wrong')).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  expect((await login(user.email, PASSWORD)).status).toBe(429);
  await service.pool.query('delete from login_limits');
});

it('guesses from elsewhere shut nobody out where they logged in well', async () => {
  await (await guess('traveller', '203.0.113.1'))?.();
  for (let n = 1; n <= 30; n++) await guesses.take('traveller', `198.51.100.${n}`).catch(() => {});
  expect(await refused('traveller', '198.51.100.99')).toBe(true);
  expect(await refused('traveller', '203.0.113.1')).toBe(false);
});

it('whoever logs in again and again earns no guesses with it', async () => {
  await (await guess('owner', '192.0.2.20'))?.();
  for (let n = 0; n < MOST_OF_ONE_ADDRESS; n++) expect(await refused(`victim ${n}`, '192.0.2.20')).toBe(false);
  for (let n = 0; n < 10; n++) await (await guess('owner', '192.0.2.20'))?.();
  expect(await refused('one more', '192.0.2.20')).toBe(true);
});

it('where a user logged in well is forgotten after its time', async () => {
  await (await guess('seldom', '192.0.2.30'))?.();
  await service.pool.query('update known_logins set until = now()');
  await guesses.clean(new Date(Date.now() + 1_000));
  const { rows } = await service.pool.query('select count(*)::int from known_logins');
  expect(rows).toEqual([{ count: 0 }]);
});

it('an address that is shut takes no guess from a user elsewhere', async () => {
  for (let n = 0; n < 30; n++) await refused('victim', '192.0.2.9');
  expect(await refused('victim', '192.0.2.10')).toBe(false);
});

it('the addresses of one IPv6 network are one', async () => {
  const from = (last: number) => `2001:db8::${last}`;
  for (let n = 1; n <= 5; n++) expect(await refused('six', from(n))).toBe(false);
  expect(await refused('six', from(6))).toBe(true);
  expect(await refused('six', '2001:db8:0:1::1')).toBe(false);
});
