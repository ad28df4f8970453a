import { expect, test } from 'vitest';
import { tagsOf } from './legacy-metadata.ts';

const env = { env: 'production' };

test.each([
  ['nothing', {}, {}],
  ['tags', { tags: { ' env ': 'production' } }, env],
  ['metadata', { metadata: { ' env ': 'production' } }, env],
  ['both, which agree without the spaces around them', { tags: env, metadata: { env: ' production ' } }, env],
])('reads %s', (_, body, tags) => {
  expect(tagsOf(body)).toEqual(tags);
});

test.each([
  ['another value', { tags: env, metadata: { env: 'staging' } }, 'metadata: Differs from tags'],
  ['a tag more', { tags: env, metadata: { ...env, owner: 'a' } }, 'metadata: Differs from tags'],
  ['a tag less', { tags: { ...env, owner: 'a' }, metadata: env }, 'metadata: Differs from tags'],
  ['a fault in tags', { tags: { 'a b': 'c' } }, 'tags.a b: A tag key'],
  ['a fault in metadata', { metadata: { 'a b': 'c' } }, 'metadata.a b: A tag key'],
])('refuses %s, naming the field', (_, body, message) => {
  expect(() => tagsOf(body)).toThrow(`error: ${message}`);
  expect(() => tagsOf(body, 'group.')).toThrow(`error: group.${message.replace('from ', 'from group.')}`);
});
