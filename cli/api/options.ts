import type { Argument, Option } from '../command.ts';
import type { ApiCommand } from './api-command.ts';
import { type Field, operationOf } from './operations.ts';
import { optionName, optionOf } from './values.ts';

/** Parameters that choose a page; a command has --limit and --all instead. */
const PAGING = ['limit', 'offset', 'page_token'];

export const DEFAULT_ROWS = 100;

/** The one parameter of paths with a default: the account of the token. */
export const OWN = 'client';

/** `clientId` as `client`. */
export const scopeName = (name: string): string => optionName(name).replace(/-id$/, '');

export function argumentsOf({ operation, arguments: named = [] }: ApiCommand): Argument[] {
  const { parameters } = operationOf(operation);
  return named.map((name) => {
    const text = parameters.find((one) => one.name === name)?.text ?? '';
    return { name: scopeName(name), text };
  });
}

/** The parameters of the path that options name: whose thing it is. */
export function scopesOf({ operation, arguments: named = [] }: ApiCommand): Field[] {
  return operationOf(operation).parameters.filter(({ name }) => !named.includes(name));
}

/** The parameters of the query that have an option. */
export function filtersOf({ operation, columns, without = [] }: ApiCommand): Field[] {
  const { query } = operationOf(operation);
  return query.filter(({ name }) => !(columns && PAGING.includes(name)) && !without.includes(name));
}

/** The fields of the body that have an option. */
export function fieldsOf({ operation, without = [] }: ApiCommand): Field[] {
  return (operationOf(operation).body ?? []).filter(({ name }) => !without.includes(name));
}

export function optionsOf(command: ApiCommand): Option[] {
  const { columns, csv, operation, parts = {}, tasks } = command;
  const { query, body, changes, method } = operationOf(operation);
  const paged = columns && query.some(({ name }) => name === 'limit');
  return [
    ...scopesOf(command).map(scopeOption),
    ...filtersOf(command).map((field) => ({ ...optionOf(field), required: field.required === true })),
    ...Object.entries(parts).map(
      ([name, { text, value, type = 'string' }]): Option => ({ ...optionOf({ name, type, text }), value }),
    ),
    ...fieldsOf(command).map(optionOf),
    ...(body ? [{ name: 'data', value: 'JSON', text: 'The body as JSON, as @FILE, or - for standard input' }] : []),
    ...(paged ? [LIMIT, ALL] : []),
    ...(csv ? [{ name: 'csv', text: 'All of them, as CSV' }] : []),
    ...(tasks ? [{ name: 'wait', text: 'Wait until it is done' }] : []),
    ...(changes ? [{ name: 'dry-run', text: 'Show what it would do, and do nothing' }] : []),
    ...(method === 'DELETE' ? [{ name: 'yes', text: 'Do it without asking' }] : []),
  ];
}

export const LIMIT: Option = {
  ...optionOf({ name: 'limit', type: 'integer', text: `At most so many (${DEFAULT_ROWS})` }),
};
const ALL: Option = { name: 'all', text: 'All of them, however many' };

function scopeOption({ name, text }: Field): Option {
  const scope = scopeName(name);
  const own = scope === OWN;
  return {
    name: scope,
    value: 'ID',
    text: own ? `${text} (that of the token)` : text,
    ...(!own && { required: true }),
  };
}
