import { describe, expect, it } from 'vitest';
import { parseTokenText, tokenText } from './principal.ts';

describe('the text of a token', () => {
  it.each([
    ['12_secret', { id: 12, secret: 'secret' }],
    ['12$secret', { id: 12, secret: 'secret' }],
    ['1_a_b$c', { id: 1, secret: 'a_b$c' }],
    [`1_${'x'.repeat(512)}`, { id: 1, secret: 'x'.repeat(512) }],
  ])('%s is read', (text, token) => {
    expect(parseTokenText(text)).toEqual(token);
  });

  it.each([
    '',
    '12',
    '12_',
    '_secret',
    'a12_secret',
    '12-secret',
    '1234567890123456_x',
    '12_se cret',
    '12_secret ',
    ' 12_secret',
    '12_geheim\u00fc',
    `1_${'x'.repeat(513)}`,
  ])('is not %j', (text) => {
    expect(parseTokenText(text)).toBeUndefined();
  });

  it.each([
    [1, '7$secret'],
    [2, '7_secret'],
  ] as const)('of version %s is %s', (version, text) => {
    expect(tokenText(version, 7, 'secret')).toBe(text);
  });
});
