import { expect, it } from 'vitest';
import { plain } from './plain.ts';

it.each([
  ['Acme GmbH', 'Acme GmbH'],
  ['Evil\r\nBcc: victim@example.com', 'Evil Bcc: victim@example.com'],
  ['line\u2028paragraph\u2029end\0', 'line paragraph end'],
  ['abc\u202etxt.exe', 'abc txt.exe'],
  ['see https://example.com/', 'see https example.com/'],
  ['x'.repeat(1_000), `${'x'.repeat(299)}…`],
  ['\u{1f600}'.repeat(301), `${'\u{1f600}'.repeat(299)}…`],
  ['\ud800', '\ufffd'],
])('%j is shown as %j', (text, shown) => {
  expect(plain(text)).toBe(shown);
});
