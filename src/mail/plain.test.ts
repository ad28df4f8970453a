import { expect, it } from 'vitest';
import { plain, plainData } from './sending/queue.ts';

it.each([
  ['Acme GmbH', 'Acme GmbH'],
  ['Evil\r\nBcc: victim@example.com', 'Evil Bcc: victim@example. com'],
  ['line\u2028paragraph\u2029end\0', 'line paragraph end'],
  ['abc\u202etxt.exe', 'abc txt. exe'],
  ['see https://example.com/', 'see https example. com/'],
  ['Log in at www.evil.example/now', 'Log in at www. evil. example/now'],
  ['ask help@evil.example', 'ask help@evil. example'],
  ['пример.рф', 'пример. рф'],
  ['evil\u3002example', 'evil. example'],
  ['evil\uff0eexample', 'evil. example'],
  ['evil.\u00adexample', 'evil. example'],
  ['evil.\u200bexample', 'evil. example'],
  ['evil.भारत', 'evil. भारत'],
  ['evil.\u200cexample', 'evil. example'],
  ['evil.e\u200dxample', 'evil.e xample'],
  ['evil.\u034fexample', 'evil. \u034fexample'],
  ['evil.xn--p1ai', 'evil. xn--p1ai'],
  ['Acme S.p.A., version 2.5', 'Acme S.p.A., version 2.5'],
  ['=?utf-8?B?ZXZpbC5leGFtcGxl?=', '= ?utf-8?B?ZXZpbC5leGFtcGxl?='],
  ['==??utf-8?Q?evil?=', '== ??utf-8?Q?evil?='],
  ['x'.repeat(1_000), `${'x'.repeat(299)}…`],
  ['\u{1f600}'.repeat(301), `${'\u{1f600}'.repeat(299)}…`],
  ['\ud800', '\ufffd'],
])('%j is shown as %j', (text, shown) => {
  expect(plain(text)).toBe(shown);
});

it('shows addresses as they are, also those that are given as such', () => {
  expect(
    plainData({
      user: 'jo@example.com',
      address: '192.0.2.7',
      host: 'hooks.example.com',
      reason: 'evil.example',
    }),
  ).toEqual({
    user: 'jo@example.com',
    address: '192.0.2.7',
    host: 'hooks.example.com',
    reason: 'evil. example',
  });
  expect(plainData({ user: '=?utf-8?Q?evil?=@example.com' }).user).toBe('= ?utf-8?Q?evil?=@example.com');
});
