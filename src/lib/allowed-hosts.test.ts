import { expect, test } from 'vitest';
import { parseAllowedHosts } from './outside-request.ts';

test.each([
  ['', 'http://127.0.0.1/', false],
  ['127.0.0.1', 'http://127.0.0.1/', true],
  ['127.0.0.1', 'https://127.0.0.1:8443/a', true],
  ['127.0.0.1:9000', 'http://127.0.0.1:9000/a', true],
  ['127.0.0.1:9000', 'http://127.0.0.1:9001/a', false],
  ['127.0.0.1:9000', 'http://127.0.0.1/a', false],
  ['127.0.0.1:80', 'http://127.0.0.1/a', true],
  ['127.0.0.1:80', 'https://127.0.0.1/a', false],
  ['127.0.0.1:080', 'http://127.0.0.1:22/a', false],
  ['media.internal:443', 'https://media.internal/a', true],
  ['Media.Internal , other', 'http://MEDIA.internal/a', true],
  ['media.internal', 'http://evil.media.internal/a', false],
  ['media.internal', 'http://media.internal.evil/a', false],
  ['127.0.0.1', 'http://2130706433/a', true],
  ['[fd00::1]:80', 'http://[fd00:0::1]/a', true],
  ['[fd00::1]', 'http://[fd00::1]:8080/a', true],
])('%j: %s %s', (text, url, allowed) => {
  expect(parseAllowedHosts(text)?.allows(new URL(url))).toBe(allowed);
});

test.each(['http://media', 'a/b', 'user@host', 'a b', 'host:99999', 'host:x', '*'.repeat(2).concat('/')])(
  '%j is refused',
  (text) => expect(parseAllowedHosts(text)).toBeUndefined(),
);
