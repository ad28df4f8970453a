import { _, type Ajv, type CodeKeywordDefinition, type Format, type KeywordCxt } from 'ajv';
import addFormats from 'ajv-formats';

/** Longer than every text of a format that we ask for; checking some formats takes long. */
const MAX_FORMAT_LENGTH = 4_096;

/**
 * Makes the validator check the length of a text before anything else. A validator that collects all errors
 * checks pattern and format even if `maxLength` has refused the text, and counts the characters of every text
 * one by one.
 */
export function checkLengthFirst(ajv: Ajv): Ajv {
  for (const definition of [maxLength, minLength, pattern]) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
  addFormats.default(ajv);
  for (const [name, format] of Object.entries(ajv.formats)) {
    const fits = format && checkOf(format);
    if (fits) ajv.addFormat(name, (text) => text.length <= MAX_FORMAT_LENGTH && fits(text));
  }
  return ajv;
}

/** A character is one or two units of `length`, so most texts need no counting. */
const maxLength: CodeKeywordDefinition = {
  keyword: 'maxLength',
  type: 'string',
  schemaType: 'number',
  error: {
    message: 'has too many or too few characters',
    params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
  },
  code(cxt) {
    const { data, schema: most } = cxt;
    cxt.fail(_`${data}.length > ${most} && (${data}.length > ${2 * most} || ${characters(cxt)} > ${most})`);
  },
};

const minLength: CodeKeywordDefinition = {
  ...maxLength,
  keyword: 'minLength',
  code(cxt) {
    const { data, schema: least } = cxt;
    cxt.fail(_`${data}.length < ${2 * least} && ${characters(cxt)} < ${least}`);
  },
};

const pattern: CodeKeywordDefinition = {
  keyword: 'pattern',
  type: 'string',
  schemaType: 'string',
  error: { message: 'does not match', params: ({ schemaCode }) => _`{pattern: ${schemaCode}}` },
  code(cxt) {
    const { gen, data, schema, parentSchema } = cxt;
    const expression = gen.scopeValue('pattern', { key: schema, ref: new RegExp(schema, 'u') });
    const misses = _`!${expression}.test(${data})`;
    const { maxLength: most } = parentSchema;
    cxt.fail(most === undefined ? misses : _`${data}.length <= ${2 * most} && ${misses}`);
  },
};

function characters({ gen, data }: KeywordCxt) {
  return _`${gen.scopeValue('func', { key: count, ref: count })}(${data})`;
}

function count(text: string): number {
  let characters = 0;
  for (const _character of text) characters++;
  return characters;
}

function checkOf(format: Format): ((text: string) => boolean) | undefined {
  if (typeof format === 'function') return format;
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format !== 'object' || format.type === 'number') return undefined;
  return checkOf(format.validate as Format);
}
