import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import { InvalidError } from '../lib/errors.ts';
import { checkLengthFirst } from './text-keywords.ts';
import { at, isOpen, misspelt, noteIgnored, takeOutUnknown } from './unknown-fields.ts';
import { fieldOf, fieldProblems } from './validation-texts.ts';

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
  // The first request of a kind waits for its validator: optimizing would double that time, and gains no
  // speed later.
  code: { optimize: false },
} as const;

/**
 * Returns validators for Fastify. They are made when first needed and kept by schema: the two base addresses
 * share them, and compiling all of them would take longer than the rest of a start.
 */
export function validatorCompiler(): FastifySchemaCompiler<object> {
  const strict = checkLengthFirst(new Ajv({ ...options, coerceTypes: false }));
  // Paths and query strings contain only text. 'array' also reads a key that is given once as a list of one.
  const coercing = checkLengthFirst(new Ajv({ ...options, coerceTypes: 'array' }));
  const checks = new WeakMap<object, Check>();
  return ({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? strict : coercing;
    let check = checks.get(schema);
    if (!check) {
      let validate: ValidateFunction | undefined;
      const integers = httpPart === 'body' ? [] : integerNames(schema);
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
        return { value: data };
      };
      checks.set(schema, check);
    }
    return check;
  };
}

type Texts = Record<string, string | string[] | undefined>;

/**
 * Coercion also accepts `0x1`, `1e0`, ` 1` and line breaks as numbers; an integer in an address has only
 * digits.
 */
const INTEGER = /^(0|-?[1-9]\d*)$/;

function integerNames(schema: {
  properties?: Record<string, { type?: unknown; items?: { type?: unknown } }>;
}) {
  return Object.entries(schema.properties ?? {})
    .filter(([, { type, items }]) => type === 'integer' || items?.type === 'integer')
    .map(([name]) => name);
}

function isOddInteger(given: string | string[] | undefined): boolean {
  if (given === undefined) return false;
  return typeof given === 'string' ? !INTEGER.test(given) : !given.every((text) => INTEGER.test(text));
}

/**
 * Returns serializers, which are also made when first needed. They leave out fields that the schema doesn't
 * name.
 */
export function serializerCompiler(): FastifySerializerCompiler<object> {
  const serializers = new WeakMap<object, (data: unknown) => string>();
  return ({ schema }) => {
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
}
