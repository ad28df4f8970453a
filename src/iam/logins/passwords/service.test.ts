import { afterAll, beforeAll, expect, it } from 'vitest';
import { logIn, newPerson, PASSWORD } from '../../../../test/support/logins.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { hashPassword } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'error' });
});
afterAll(() => service?.stop());

it('a login that came when too many were waiting costs no guess', async () => {
  const { email } = await newPerson(service.http);
  const work: Promise<unknown>[] = [];
  const fill = () => {
    for (let n = 0; n < 100; n++) work.push(hashPassword(PASSWORD).catch(() => {}));
  };
  fill();
  const filling = setInterval(fill, 1);
  const statuses = [];
  for (let n = 0; n < 6; n++) {
    const answer = await service.anonymous.post('/iam/auth/jwt/login', {
      username: email,
      password: PASSWORD,
    });
    statuses.push(answer.status);
  }
  clearInterval(filling);
  await Promise.all(work);
  expect(statuses).toEqual(Array(6).fill(503));
  await logIn(service.anonymous, email);
});
