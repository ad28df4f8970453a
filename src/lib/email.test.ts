import { expect, test } from 'vitest';
import { requireEmail } from './email.ts';

test.each(['security@example.com', 'a.b+c@sub.example.org'])('takes %s', (email) => {
  expect(() => requireEmail(email)).not.toThrow();
});

test.each(['', 'security', 'a@localhost', `${'x'.repeat(65)}@example.com`])('refuses %j', (email) => {
  expect(() => requireEmail(email)).toThrow('email: Must be a valid email');
  expect(() => requireEmail(email, 'contact')).toThrow('contact: Must be a valid email');
});
