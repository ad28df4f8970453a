import { afterAll, afterEach, beforeAll, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { anyEmail, comes, invite, newPerson, PASSWORD } from '../../../test/support/logins.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

/** What the operator reads. */
let service: TestService;
let stderr: MockInstance<typeof process.stderr.write>;
beforeAll(async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'debug' });
});
afterAll(() => service?.stop());
beforeEach(() => {
  stderr = vi.spyOn(process.stderr, 'write').mockImplementation((_text, ...rest) => {
    const done = rest.find((each) => typeof each === 'function');
    done?.();
    return true;
  });
});
afterEach(() => stderr.mockRestore());

const logged = () => stderr.mock.calls.map(([text]) => String(text)).join('');

it('names both addresses when one changes, and the former one again when a password is asked for', async () => {
  const user = await newPerson(service.http);
  const [first, second] = [anyEmail(), anyEmail()];
  const path = `/iam/users/${user.userId}`;
  await user.http.put(`${path}/email`, { new_email: first, password: PASSWORD });
  expect(logged()).toContain(`A user changed their address from ${user.email} to ${first} userId=${user.userId}`);
  await service.http.patch(path, { email: second });
  expect(logged()).toContain(`from ${first} to ${second}`);
  await service.anonymous.post('/iam/auth/password/forgot', { email: second });
  await expect
    .poll(logged)
    .toMatch(new RegExp(`user password --email ${second} .Until [-0-9]+ the address .* ${first}: `));
  const boss = await newPerson(service.http);
  const colleague = await comes(boss, anyEmail());
  const { body } = await boss.http.get(`/iam/users/${colleague}`);
  await boss.http.post('/iam/auth/reset_password', { email: body.email });
  expect(logged()).toContain(`User ${boss.userId} of client ${boss.clientId} asked for a new password for a user`);
});

it('never sees the secret of an invitation, nor a password', async () => {
  const boss = await newPerson(service.http);
  const email = anyEmail();
  const { invitation_token: first } = await invite(boss, email);
  const { body } = await boss.http.post('/iam/auth/renew_invitation', { email });
  const token = body.invitations[0].invitation_token;
  await service.anonymous.post('/iam/auth/accept_invitation', { token: first, password: PASSWORD });
  await service.anonymous.post('/iam/auth/accept_invitation', { token, password: PASSWORD });
  for (const secret of [first, token, PASSWORD]) expect(logged()).not.toContain(secret.slice(-64));
});
