import { describe, expect, test } from 'vitest';
import { InvalidError } from './errors.ts';
import { MAX_TAGS, patchedTags } from './tags.ts';

const CURRENT = { env: 'production', owner: 'team a' };

describe('patchedTags', () => {
  test('sets what has a value, removes what is null, keeps the rest', () => {
    expect(patchedTags(CURRENT, { env: ' staging ', owner: null, zone: 'b' })).toEqual({
      env: 'staging',
      zone: 'b',
    });
  });

  test('keeps all when absent or empty, removes all when null', () => {
    expect(patchedTags(CURRENT, undefined)).toEqual(CURRENT);
    expect(patchedTags(CURRENT, {})).toEqual(CURRENT);
    expect(patchedTags(CURRENT, null)).toEqual({});
  });

  test('removes a tag that is not there without a fault', () => {
    expect(patchedTags(CURRENT, { nobody: null })).toEqual(CURRENT);
  });

  test('refuses what a tag may not be, and a key that is set and removed', () => {
    expect(() => patchedTags(CURRENT, { 'a b': 'c' })).toThrow(InvalidError);
    expect(() => patchedTags(CURRENT, { env: 'x', ' env ': null })).toThrow(/set and removed/);
  });

  test('names the tag below the field, or alone where the tags are the whole body', () => {
    const fields = (field?: string) => {
      try {
        patchedTags(CURRENT, { 'a b': 'c', env: 'x', ' env ': null }, field);
      } catch (error) {
        return error instanceof InvalidError ? Object.keys(error.fields) : error;
      }
    };
    expect(fields()).toEqual(['tags.a b', 'tags.env']);
    expect(fields('metadata')).toEqual(['metadata.a b', 'metadata.env']);
    expect(fields('')).toEqual(['a b', 'env']);
  });

  test('counts the tags that stay', () => {
    const full = Object.fromEntries(Array.from({ length: MAX_TAGS }, (_, i) => [`k${i}`, 'v']));
    expect(patchedTags(full, { k0: null, other: 'v' })).toHaveProperty('other', 'v');
    expect(() => patchedTags(full, { other: 'v' })).toThrow(/: tags: At most 64/);
    expect(() => patchedTags(full, { other: 'v' }, 'metadata')).toThrow(/: metadata: At most 64/);
    expect(() => patchedTags(full, { other: 'v' }, '')).toThrow(/: tags: At most 64/);
  });
});
