import { expect, test } from 'vitest';
import { textArray, textObject } from './tags.ts';

test.each([
  ['[]', []],
  ['["a","b"]', ['a', 'b']],
  ['["a",1]', undefined],
  ['["a\\u0000"]', undefined],
  ['["\\ud800"]', undefined],
  ['{"a":"b"}', undefined],
  ['"a"', undefined],
  ['null', undefined],
  ['[', undefined],
])('%s as a list of texts', (json, texts) => {
  expect(textArray(json)).toEqual(texts);
});

test.each([
  ['{}', {}],
  ['{"a":"b"}', { a: 'b' }],
  ['{"a":1}', undefined],
  ['{"a\\u0000":"b"}', undefined],
  ['["a"]', undefined],
  ['null', undefined],
  ['{', undefined],
])('%s as an object of texts', (json, texts) => {
  expect(textObject(json)).toEqual(texts);
});
