import {
  _,
  Ajv,
  type CodeKeywordDefinition,
  type ErrorObject,
  type Format,
  type KeywordCxt,
  type ValidateFunction,
} from 'ajv';
import addFormats from 'ajv-formats';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import { Type } from 'typebox';
import { InvalidError } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { at, isOpen, misspelt, noteIgnored, takeOutUnknown } from './dialect-hooks.ts';
import { fieldOf, fieldProblems } from './validation-texts.ts';

/** Longer than every text of a format that we ask for; checking some formats takes long. */
const MAX_FORMAT_LENGTH = 4_096;

/**
 * Makes the validator check the length of a text before anything else. A validator that collects all errors checks
 * pattern and format even if `maxLength` has refused the text, and counts the characters of every text one by one.
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

/**
 * Takes empty texts and zeros out of an open body where the validator refuses them and the field is marked `EMPTY_AS_ABSENT`, and
 * names them like unknown fields. Elsewhere they stay refused: a rule without its group is a rule for everybody. Returns
 * whether there were any: then the body has to be validated again.
 */
export function takeOutEmpty(body: unknown, errors: ErrorObject[]): boolean {
  if (!isOpen(body)) return false;
  let found = false;
  for (const error of errors) {
    const { data, parentSchema, instancePath } = error;
    if ((data !== '' && data !== 0) || parentSchema?.['x-empty'] !== 'absent') continue;
    const slash = instancePath.lastIndexOf('/');
    const holder = at(body, instancePath.slice(0, slash));
    const name = instancePath.slice(slash + 1);
    if (!holder || Array.isArray(holder) || holder[name] !== data) continue;
    delete holder[name];
    found = true;
    noteIgnored(body, fieldOf(error));
  }
  return found;
}

type Check = (data: unknown) => { value: unknown } | { error: Error };

const options = {
  allErrors: true,
  removeAdditional: false,
  useDefaults: true,
  verbose: true,
  strict: false,
  discriminator: true,
  // The first request of a kind waits for its validator: optimizing would double that time, and gains no speed later.
  code: { optimize: false },
} as const;

const strict = checkLengthFirst(new Ajv({ ...options, coerceTypes: false }));
// Paths and query strings contain only text. 'array' also reads a key that is given once as a list of one.
const coercing = checkLengthFirst(new Ajv({ ...options, coerceTypes: 'array' }));
const checks = new WeakMap<object, Check>();

/**
 * Returns a validator for Fastify. It is made when first needed and kept by schema: the two base addresses and the servers of a
 * process share it, and compiling all of them would take longer than the rest of a start.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? strict : coercing;
  let check = checks.get(schema);
  if (!check) {
    let validate: ValidateFunction | undefined;
    const integers = httpPart === 'body' ? [] : integerNames(schema);
    const ids = httpPart === 'params' ? idNames(schema) : [];
    check = (data) => {
      const odd = integers.filter((name) => isOddInteger((data as Texts)[name]));
      if (odd.length > 0) {
        return { error: new InvalidError(odd.map((field) => ({ field, message: 'Must be an integer.' }))) };
      }
      validate ??= ajv.compile(schema);
      while (!validate(data)) {
        const errors = validate.errors as ErrorObject[];
        if (takeOutUnknown(data, errors) || takeOutEmpty(data, errors)) continue;
        return {
          error: new InvalidError([...fieldProblems(errors, httpPart ?? 'body'), ...misspelt(data)]),
        };
      }
      // The database has them in small letters, and some things are looked up by their text.
      for (const name of ids) {
        const id = (data as Texts)[name];
        if (typeof id === 'string' && isUuid(id)) (data as Texts)[name] = id.toLowerCase();
      }
      return { value: data };
    };
    checks.set(schema, check);
  }
  return check;
};

type Texts = Record<string, string | string[] | undefined>;

const idNames = (schema: { properties?: object }) =>
  Object.keys(schema.properties ?? {}).filter((name) => /id$/i.test(name));

/** Coercion also accepts `0x1`, `1e0`, ` 1` and line breaks as numbers; an integer in an address has only digits. */
const INTEGER = /^(0|-?[1-9]\d*)$/;

function integerNames(schema: { properties?: Record<string, { type?: unknown; items?: { type?: unknown } }> }) {
  return Object.entries(schema.properties ?? {})
    .filter(([, { type, items }]) => type === 'integer' || items?.type === 'integer')
    .map(([name]) => name);
}

function isOddInteger(given: string | string[] | undefined): boolean {
  if (given === undefined) return false;
  return typeof given === 'string' ? !INTEGER.test(given) : !given.every((text) => INTEGER.test(text));
}

const serializers = new WeakMap<object, (data: unknown) => string>();

/** Returns a serializer, which is also made when first needed. It leaves out fields that the schema doesn't name. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  let serialize = serializers.get(schema);
  if (!serialize) {
    let built: ((data: unknown) => string) | undefined;
    serialize = (data) => {
      built ??= fastJsonStringify(schema, { ajv: { strict: false } }) as (data: unknown) => string;
      return built(data);
    };
    serializers.set(schema, serialize);
  }
  return serialize;
};

const NoQuery = Type.Object({}, { additionalProperties: false });

/** Makes operations without query parameters refuse unknown ones by name, like all others. */
export function refuseUnknownQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema && !route.schema.querystring) route.schema = { ...route.schema, querystring: NoQuery };
  });
}
