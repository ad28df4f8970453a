import { describe, expect, it } from 'vitest';
import { parseGoDuration } from './node-settings.ts';

describe('parseGoDuration', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['0s', 0n],
    ['10s', 10_000_000_000n],
    ['15m', 900_000_000_000n],
    ['1h30m', 5_400_000_000_000n],
    ['+5s', 5_000_000_000n],
    ['-5s', -5_000_000_000n],
    ['1.5s', 1_500_000_000n],
    ['.5s', 500_000_000n],
    ['.25s', 250_000_000n],
    ['5.s', 5_000_000_000n],
    ['1m1m', 120_000_000_000n],
    ['500ms', 500_000_000n],
    ['3us', 3_000n],
    ['3µs', 3_000n],
    ['3μs', 3_000n],
    ['7ns', 7n],
    ['0.9ns', 0n],
    ['9223372036854775807ns', 9_223_372_036_854_775_807n],
    ['-9223372036854775808ns', -9_223_372_036_854_775_808n],
  ])('reads %s', (text, nanoseconds) => {
    expect(parseGoDuration(text)).toBe(nanoseconds);
  });

  it.each([
    '',
    '+',
    '-',
    '15',
    '1d',
    '10 s',
    ' 10s',
    '10s ',
    '10S',
    '1e3s',
    '.s',
    's',
    '--1s',
    '1h-5m',
    '10s5',
    'inf',
    '9223372036854775808ns',
    '-9223372036854775809ns',
    '2562048h',
    `${'1'.repeat(300)}s`,
  ])('refuses %j', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});
