import fs from 'node:fs';
import type { Option } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { Field } from './operations.ts';

/** Whoever lists processes sees the command line, so these come from files. */
export const SECRET =
  /(^|_)(secret|password|connection_string|auth_header_value)$|^(token|refresh|payload|old|new|double)$/;

export const isSecret = ({ name }: Field): boolean => SECRET.test(name);

/** `companyName` and `created_at_gte` as options: `company-name`, `created-at-gte`. */
export function optionName(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/_+/g, '-')
    .toLowerCase();
}

/** `clientId` as `client`. */
export const scopeName = (name: string): string => optionName(name).replace(/-id$/, '');

/** Options that mean the same everywhere. A field with such a name has another option. */
export const RESERVED: readonly string[] =
  'all columns csv data dry-run file help json limit token token-file url wait yes'.split(' ');

export const optionNameOf = ({ name, option = optionName(name) }: Pick<Field, 'name' | 'option'>): string => option;

/** Returns the option for a parameter or a field of a body. */
export function optionOf(field: Field): Option {
  const { many, values, text: said, type, required } = field;
  const name = optionNameOf(field);
  const text = required ? `${said || sentenceOf(field.name)} (required)` : said;
  if (isSecret(field))
    return {
      name: `${name}-file`,
      value: 'FILE',
      text: `${text}; from a file, or - for standard input`,
    };
  const choices = type === 'boolean' ? ['true', 'false'] : values;
  return {
    name,
    value: choices ? choices.join('|') : (WORDS[type] ?? 'TEXT'),
    text,
    ...(many && { many }),
    ...(choices && { values: choices }),
    read: (given) => readValue(name, type, given),
  };
}

/** `port_range_min` as `Port range min`, where the document has no words. */
const sentenceOf = (name: string): string =>
  optionName(name)
    .replaceAll('-', ' ')
    .replace(/^./, (letter) => letter.toUpperCase());

const WORDS: Record<string, string> = { integer: 'N', number: 'N', json: 'JSON' };

function readValue(option: string, type: string, text: string): unknown {
  if (type === 'boolean') return text === 'true';
  if (type === 'integer' || type === 'number') {
    if (!(type === 'integer' ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/).test(text))
      throw new UsageError(`--${option} must be a ${type === 'integer' ? 'whole number' : 'number'}, not ${text}`);
    return Number(text);
  }
  return type === 'json' ? jsonIn(text, `--${option}`) : text;
}

export function jsonIn(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${source} is no JSON: ${(error as Error).message}`);
  }
}

/** Returns what a file contains; `-` is standard input. */
export async function contentsOf(file: string, readInput: () => Promise<string>): Promise<string> {
  if (file === '-') return readInput();
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${(error as Error).message}`);
  }
}
