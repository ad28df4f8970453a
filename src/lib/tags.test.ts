import { describe, expect, test } from 'vitest';
import { canonicalTags, MAX_TAGS, sameTags } from './tags.ts';

describe('canonicalTags', () => {
  test('strips white space around keys and values and keeps inner spaces of values', () => {
    const input = { ' env ': ' production ', owner: '\tteam  a\n', 'ключ-🔑': 'a=b' };
    expect(canonicalTags(input, 'tags')).toEqual({
      tags: { env: 'production', owner: 'team  a', 'ключ-🔑': 'a=b' },
      problems: [],
    });
  });

  test('is idempotent', () => {
    const { tags } = canonicalTags({ ' a ': ' b c ' }, 'tags');
    expect(canonicalTags(tags, 'tags')).toEqual({ tags, problems: [] });
  });

  test('takes 255 characters, also outside the basic plane', () => {
    const key = '🔑'.repeat(255);
    expect(canonicalTags({ [key]: key }, 'tags').problems).toEqual([]);
  });

  test.each([
    ['', 'x', /empty/],
    ['  ', 'x', /empty/],
    ['a b', 'x', /spaces/],
    ['a=b', 'x', /"="/],
    ['a\u00a0b', 'x', /spaces/],
    ['k'.repeat(256), 'x', /255/],
    ['a', '', /empty/],
    ['a', ' \t ', /empty/],
    ['a', 'x\ty', /tabs/],
    ['a', 'x\ny', /tabs/],
    ['a', 'x\vy', /tabs/],
    ['a', 'x\fy', /tabs/],
    ['a', 'x\ry', /tabs/],
    ['a', 'v'.repeat(256), /255/],
  ])('refuses %j: %j', (key, value, message) => {
    const { tags, problems } = canonicalTags({ [key]: value }, 'security_group.tags');
    expect(tags).toEqual({});
    expect(problems).toEqual([
      { field: `security_group.tags.${key.slice(0, 255)}`, message: expect.stringMatching(message) },
    ]);
  });

  test('names a key alone where the tags are the whole body', () => {
    expect(canonicalTags({ env: '' }, '').problems).toMatchObject([{ field: 'env' }]);
  });

  test('refuses two keys that differ only in surrounding spaces', () => {
    const { problems } = canonicalTags({ a: '1', ' a': '2' }, 'tags');
    expect(problems).toEqual([{ field: 'tags. a', message: expect.stringContaining('same key') }]);
  });

  test('limits the number of tags', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
    expect(canonicalTags(many(MAX_TAGS), 'tags').problems).toEqual([]);
    expect(canonicalTags(many(MAX_TAGS + 1), 'tags').problems).toEqual([
      { field: 'tags', message: expect.stringContaining('At most 64') },
    ]);
  });

  test('keeps a key that names a property of Object', () => {
    const input = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const { tags } = canonicalTags(input, 'tags');
    expect(Object.entries(tags)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });
});

test.each([
  [{}, {}, true],
  [{ a: '1', b: '2' }, { b: '2', a: '1' }, true],
  [{ a: '1' }, { a: '2' }, false],
  [{ a: '1' }, { a: '1', b: '2' }, false],
  [{ a: '1', b: '2' }, { a: '1' }, false],
  [{ a: '1', b: '2' }, { a: '1', b: '3' }, false],
])('%j and %j are the same tags: %s', (one, other, expected) => {
  expect(sameTags(one, other)).toBe(expected);
});
