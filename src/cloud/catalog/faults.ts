import { Ajv, type ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import { SettingError } from '../../lib/operator-error.ts';

/** A fault of the catalogue: where it is, what is wrong and what to write instead. */
export interface CatalogFault {
  file: string;
  /** Line in the file, counted from 1; null when the whole file is meant. */
  line: number | null;
  /** Dotted path in the file, with indexes from 0: `flavors.3.ram`. Empty for the file itself. */
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

export type PathParts = (string | number)[];

/** Returns everything that is wrong with the shape of a value, as sentences with their paths. */
export function findShapeFaults(schema: TSchema, value: unknown): { path: PathParts; message: string }[] {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map((error) => ({ path: pathOf(error), message: sentenceOf(error) }));
}

function pathOf(error: ErrorObject): PathParts {
  const parts: PathParts = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const child: unknown = error.params.missingProperty ?? error.params.additionalProperty;
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
      return `contains the same value twice, at ${String(params.j)} and ${String(params.i)}. Remove one.`;
    default:
      return `${error.message ?? 'is not valid'}, but is ${shown(data)}.`;
  }
}

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
