import { expect, test } from 'vitest';
import { InvalidError } from './errors.ts';
import { type TagQuery, tagFilter } from './tags.ts';

test.each<[what: string, query: TagQuery, tagKeys: string[], tags: Record<string, string>]>([
  ['nothing', {}, [], {}],
  ['keys', { tag_key: ['env', 'owner'] }, ['env', 'owner'], {}],
  ['pairs', { tag_key_value: '{"env":"production"}' }, [], { env: 'production' }],
  ['keys by the older name', { metadata_k: ['env', 'owner'] }, ['env', 'owner'], {}],
  ['keys as a JSON array', { metadata_k: ['["env","owner"]', 'zone'] }, ['env', 'owner', 'zone'], {}],
  ['a key that only begins like one', { metadata_k: ['[env'] }, ['[env'], {}],
  ['keys by both names', { tag_key: ['env'], metadata_k: ['owner'] }, ['env', 'owner'], {}],
  ['pairs by the older name', { metadata_kv: '{"env":"production"}' }, [], { env: 'production' }],
  ['single quotes', { metadata_kv: "{'env':'production', 'a':'b:c'}" }, [], { env: 'production', a: 'b:c' }],
  [
    'pairs by both names, which agree',
    { tag_key_value: '{"env":"production"}', metadata_kv: '{"env":"production","owner":"a"}' },
    [],
    { env: 'production', owner: 'a' },
  ],
  [
    'a key that every object has',
    { tag_key_value: '{"env":"a"}', metadata_kv: '{"constructor":"b"}' },
    [],
    { env: 'a', constructor: 'b' },
  ],
])('asks for %s', (_, query, tagKeys, tags) => {
  expect(tagFilter(query)).toEqual({ tagKeys, tags });
});

test.each<[what: string, query: TagQuery, field: string]>([
  ['no JSON', { tag_key_value: 'env=production' }, 'tag_key_value'],
  ['an array', { tag_key_value: '["env"]' }, 'tag_key_value'],
  ['null', { tag_key_value: 'null' }, 'tag_key_value'],
  ['a text', { tag_key_value: '"env"' }, 'tag_key_value'],
  ['a number as a value', { tag_key_value: '{"env":"a","size":1}' }, 'tag_key_value'],
  ['half a character', { tag_key_value: '{"env":"\\ud800"}' }, 'tag_key_value'],
  ['a zero character in a key', { tag_key_value: '{"e\\u0000":"a"}' }, 'tag_key_value'],
  ['single quotes in the newer name', { tag_key_value: "{'env':'a'}" }, 'tag_key_value'],
  ['no JSON by the older name', { metadata_kv: 'env=production' }, 'metadata_kv'],
  ['an end without a beginning', { metadata_kv: "env':'a'}" }, 'metadata_kv'],
  ['a beginning without an end', { metadata_kv: "{'env':'a'" }, 'metadata_kv'],
  ['a key without a value', { metadata_kv: "{'env':'a', 'owner'}" }, 'metadata_kv'],
  ['two values', { tag_key_value: '{"env":"a"}', metadata_kv: '{"env":"b"}' }, 'metadata_kv'],
])('refuses %s', (_, query, field) => {
  expect(() => tagFilter(query)).toThrow(InvalidError);
  expect(() => tagFilter(query)).toThrow(`${field}: `);
});
