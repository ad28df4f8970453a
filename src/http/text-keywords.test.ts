import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { checkLengthFirst } from './compilers.ts';

const ajv = checkLengthFirst(new Ajv({ allErrors: true, strict: false }));

/** Returns the keywords that refuse a text. */
function refusing(schema: object, text: string): string[] {
  const validate = ajv.compile({ type: 'string', ...schema });
  return validate(text) ? [] : (validate.errors ?? []).map(({ keyword }) => keyword);
}

const NAME = { minLength: 2, maxLength: 4, pattern: '^a+$' };

it.each([
  ['aa', []],
  ['aaaa', []],
  ['a', ['minLength']],
  ['ab', ['pattern']],
  ['aaaaa', ['maxLength']],
  ['abbbb', ['maxLength', 'pattern']],
  // Twice as long as any characters allow: nothing else is checked.
  ['bbbbbbbbb', ['maxLength']],
])('checks %s', (text, keywords) => {
  expect(refusing(NAME, text).toSorted()).toEqual(keywords);
});

it.each([
  [{ maxLength: 2 }, '😀😀', []],
  [{ maxLength: 2 }, '😀😀😀', ['maxLength']],
  [{ minLength: 2 }, '😀', ['minLength']],
  [{ minLength: 2 }, '😀😀', []],
  [{ maxLength: 1, pattern: '^.$' }, '😀', []],
])('counts characters, not units, for %j of %s', (schema, text, keywords) => {
  expect(refusing(schema, text)).toEqual(keywords);
});

it('takes no text of a format that is longer than any', () => {
  const uri = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;
  expect(refusing({ format: 'uri' }, uri(4_096))).toEqual([]);
  expect(refusing({ format: 'uri' }, uri(4_097))).toEqual(['format']);
  expect(refusing({ format: 'date-time' }, '2030-12-31T23:59:59Z')).toEqual([]);
});

it('says what was too much', () => {
  const validate = ajv.compile({ type: 'string', ...NAME });
  validate('bbbbb');
  expect(validate.errors?.map(({ params }) => params)).toEqual(
    expect.arrayContaining([{ limit: 4 }, { pattern: '^a+$' }]),
  );
});
