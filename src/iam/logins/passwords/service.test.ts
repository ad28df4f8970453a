import argon2 from 'argon2';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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
  let release = (_hash: string) => {};
  const hash = new Promise<string>((resolve) => {
    release = resolve;
  });
  // However quick the machine is, none of these is done before the logins have come.
  const slow = vi.spyOn(argon2, 'hash').mockReturnValue(hash);
  try {
    const work = Array.from({ length: 100 }, () => hashPassword(PASSWORD));
    await expect(hashPassword(PASSWORD)).rejects.toThrow('Too many passwords');
    const statuses = [];
    for (let n = 0; n < 6; n++) {
      const answer = await service.anonymous.post('/iam/auth/jwt/login', {
        username: email,
        password: PASSWORD,
      });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual(Array(6).fill(503));
    release('a hash');
    await Promise.all(work);
  } finally {
    release('a hash');
    slow.mockRestore();
  }
  await logIn(service.anonymous, email);
});
