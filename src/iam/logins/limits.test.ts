import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../test/support/service.ts';
import { TooManyRequestsError } from '../../lib/errors.ts';
import { createLoginLimits, type LoginLimits, MOST_OF_ONE_ADDRESS } from './limits.ts';

let service: TestService;
let limits: LoginLimits;
beforeAll(async () => {
  service = await startService();
  limits = createLoginLimits({ pool: service.pool });
});
afterAll(() => service?.stop());

const refused = async (username: string, address: string) => {
  const error = await limits.take(username, address).catch((fault: unknown) => fault);
  if (error === undefined) return false;
  expect(error).toBeInstanceOf(TooManyRequestsError);
  return true;
};

it('one address guesses the passwords of a hundred users, not of all', async () => {
  for (let n = 0; n < MOST_OF_ONE_ADDRESS; n++) expect(await refused(`user ${n}`, '192.0.2.1')).toBe(false);
  expect(await refused('another', '::ffff:192.0.2.1')).toBe(true);
  expect(await refused('another', '192.0.2.2')).toBe(false);
  await limits.giveBack('user 7', '192.0.2.1');
  expect(await refused('another', '192.0.2.1')).toBe(true);
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
