import { expect, it } from 'vitest';
import { isMailAddress, isPublicUrl, isSmtpUrl } from './settings.ts';

it.each([
  ['smtp://mail.example.com', true],
  ['smtps://user:pass%40word@mail.example.com:465', true],
  ['smtp://[::1]:2525/', true],
  ['http://mail.example.com', false],
  ['smtp://', false],
  ['smtp://:password@mail.example.com', false],
  ['smtp://user:100%@mail.example.com', false],
  ['smtp://mail.example.com/?tls.rejectUnauthorized=false', false],
  ['mail.example.com:587', false],
])('%s is a server for mails: %s', (text, is) => {
  expect(isSmtpUrl(text)).toBe(is);
});

it.each([
  ['noreply@example.com', true],
  ['tradewind@localhost', true],
  ['Cloud <noreply@example.com>', false],
  ['noreply@example.com\r\nBcc: x@example.com', false],
])('%j is a sender: %s', (text, is) => {
  expect(isMailAddress(text)).toBe(is);
});

it.each([
  ['https://cloud.example.com/console', true],
  ['http://localhost:3000', true],
  ['https://cloud.example.com/?a=b', false],
  ['https://user:password@cloud.example.com', false],
  ['ftp://cloud.example.com', false],
  ['cloud.example.com', false],
])('%s is where links begin: %s', (text, is) => {
  expect(isPublicUrl(text)).toBe(is);
});
