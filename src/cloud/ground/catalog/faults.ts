import { Ajv, type ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import { SettingError } from '../../../lib/errors.ts';
import type { CatalogFileName } from './schema.ts';

/** A fault that no schema finds. */
export interface CrossFault {
  file: CatalogFileName;
  path: PathParts;
  message: string;
}

/** A fault of the catalogue: where it is, what is wrong and what to write instead. */
export interface CatalogFault {
  file: string;
  /** Line in the file, counted from 1; null when the whole file is meant. */
  line: number | null;
  /** Where in the file, as `placeOf` says it. Empty for the file itself. */
  path: string;
  message: string;
}

/** Thrown when the catalogue can't be used. The message lists every fault, each on its own line. */
export class CatalogError extends SettingError {
  readonly faults: CatalogFault[];

  constructor(folder: string, faults: CatalogFault[], consequence?: string) {
    const lines = faults.map(({ file, line, path, message }) => {
      const place = line === null ? file : `${file}:${line}`;
      return `  ${place} ${path === '' ? '' : `${path}: `}${message}`;
    });
    const number = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    const said = [`The catalogue in ${folder} has ${number}:`, ...lines];
    super([...said, ...(consequence === undefined ? [] : [consequence])].join('\n'));
    this.faults = faults;
  }
}

/** Names, and positions in lists from 0. */
export type PathParts = (string | number)[];

/** Says where something is, as people count: `flavors, entry 4, ram`. */
export function placeOf(path: PathParts): string {
  return path.reduce<string>((place, part, index) => {
    if (typeof part === 'number') return `${place}${index === 0 ? '' : ', '}${entry(part)}`;
    if (index === 0) return part;
    return `${place}${typeof path[index - 1] === 'number' ? ', ' : '.'}${part}`;
  }, '');
}

export const entry = (index: number): string => `entry ${index + 1}`;

/** Returns everything that is wrong with the shape of a value, as sentences with their paths. */
export function findShapeFaults(schema: TSchema, value: unknown): { path: PathParts; message: string }[] {
  // Our own schemas needn't be checked, and each is used once in a start.
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: false,
    discriminator: true,
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  });
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map((error) => ({ path: pathOf(error, value), message: sentenceOf(error) }));
}

function pathOf(error: ErrorObject, whole: unknown): PathParts {
  const parts: PathParts = [];
  let at = whole;
  for (const escaped of error.instancePath.split('/').slice(1)) {
    const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    // A name may consist of digits, too.
    parts.push(Array.isArray(at) ? Number(part) : part);
    at = (at as Record<string, unknown>)[part];
  }
  const child: unknown = error.params.missingProperty ?? error.params.additionalProperty ?? error.params.tag;
  return typeof child === 'string' ? [...parts, child] : parts;
}

function sentenceOf(error: ErrorObject): string {
  const { params, data } = error;
  switch (error.keyword) {
    case 'required':
      return 'is missing. Add it.';
    case 'additionalProperties': {
      const known = Object.keys(schemaPart(error, 'properties') ?? {});
      return known.length === 0
        ? 'is unknown, and nothing is allowed here. Remove it.'
        : `is unknown. Remove it or correct its name; allowed here: ${known.join(', ')}.`;
    }
    case 'type': {
      const types = String(params.type).split(',');
      return `must be ${types.map(named).join(' or ')}, not ${shown(data)}.${quotesHint(types, data)}`;
    }
    case 'enum':
      return `is ${shown(data)}. Use one of: ${(params.allowedValues as unknown[]).map(String).join(', ')}.`;
    case 'pattern': {
      const rule = schemaPart(error, 'rule');
      return `is ${shown(data)}. ${typeof rule === 'string' ? rule : `It must match ${String(params.pattern)}.`}`;
    }
    case 'uniqueItems':
      return `contains the same value twice, as ${[params.i, params.j]
        .toSorted((a, b) => a - b)
        .map(entry)
        .join(' and ')}. Remove one.`;
    case 'discriminator': {
      const use = `Use one of: ${tagsOf(error).join(', ')}.`;
      return params.tagValue === undefined ? `is missing. ${use}` : `is ${shown(params.tagValue)}. ${use}`;
    }
    case 'minLength':
      return `needs at least ${counted(params.limit, 'character')}.`;
    case 'maxLength':
      return `has ${[...String(data)].length} characters. Use at most ${params.limit}.`;
    case 'minItems':
      return `needs at least ${counted(params.limit, 'entry', 'entries')}.`;
    case 'maxItems':
      return `has ${(data as unknown[]).length} entries. Use at most ${params.limit}.`;
    case 'minimum':
      return `must be at least ${params.limit}, not ${shown(data)}.`;
    case 'maximum':
      return `must be at most ${params.limit}, not ${shown(data)}.`;
    default:
      return `${error.message ?? 'is not valid'}, but is ${shown(data)}.`;
  }
}

/** Returns the values that tell the forms of an entry apart. */
function tagsOf(error: ErrorObject): unknown[] {
  const forms = (schemaPart(error, 'oneOf') ?? []) as { properties: Record<string, { const?: unknown }> }[];
  return forms.map(({ properties }) => properties[String(error.params.tag)]?.const);
}

const counted = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

function schemaPart(error: ErrorObject, key: string): unknown {
  return error.parentSchema?.[key];
}

function named(type: string): string {
  const names: Record<string, string> = {
    object: 'a map of names to values',
    array: 'a list',
    string: 'a string',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    null: 'null',
  };
  return names[type] ?? type;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function quotesHint(wanted: string[], value: unknown): string {
  const wantsText = wanted.includes('string');
  if (wantsText && (typeof value === 'number' || typeof value === 'boolean')) return ' Put it in quotes.';
  const wantsBare = wanted.some((type) => ['integer', 'number', 'boolean'].includes(type));
  if (wantsBare && typeof value === 'string') return ' Write it without quotes.';
  return '';
}
