import type { Argument, Option } from '../command.ts';
import type { Columns } from '../terminal/output.ts';
import type { ApiCommand } from './api-command.ts';
import { type Field, operationOf } from './operations.ts';
import { optionName, optionOf, scopeName } from './values.ts';

/** Parameters that choose a page; a command has --limit and --all instead. */
const PAGING = ['limit', 'offset', 'page', 'page_token'];

export const DEFAULT_ROWS = 100;

/** Parameters of paths with a default: see defaultOf. */
const DEFAULTS: Readonly<Record<string, string>> = {
  client: 'that of the token',
  project: 'TRADEWIND_PROJECT, or the only or default one',
  region: 'TRADEWIND_REGION, or the only one',
};

const positionsOf = ({ operation, arguments: named = operationOf(operation).arguments }: ApiCommand) => named;

export function argumentsOf(command: ApiCommand): Argument[] {
  const { parameters } = operationOf(command.operation);
  return positionsOf(command).map((name) => {
    const { text = '', listed } = parameters.find((one) => one.name === name) ?? {};
    return { name: scopeName(name), text: listed ? `${text}, or ${wordsOf(listed.label)}` : text };
  });
}

const wordsOf = (label: string): string =>
  /address/.test(label) ? 'address' : /email/.test(label) ? 'address' : 'name';

/** The table of a list; nothing if the operation is none. */
export function columnsOf({ operation, columns }: ApiCommand): Columns | undefined {
  return columns ?? (operationOf(operation).columns && headed(operationOf(operation).columns ?? []));
}

/** `created_at` under CREATED, `ip_address` under IP ADDRESS. */
export const headed = (places: readonly string[]): Columns =>
  Object.fromEntries(
    places.map((place) => [
      place === ''
        ? 'VALUE'
        : optionName(place.replace(/(?<=[a-z])_(at|on)$/, ''))
            .replace(/[-.]/g, ' ')
            .toUpperCase(),
      place,
    ]),
  );

/** The parameters of the path that options name: whose thing it is. */
function scopesOf(command: ApiCommand): Field[] {
  const named = positionsOf(command);
  return operationOf(command.operation).parameters.filter(({ name }) => !named.includes(name));
}

/** The parameters of the query that have an option. */
export function filtersOf(command: ApiCommand): Field[] {
  const { operation, without = [] } = command;
  const { query } = operationOf(operation);
  const isList = columnsOf(command) !== undefined;
  return query.filter(({ name }) => !(isList && PAGING.includes(name)) && !without.includes(name));
}

/** The fields of the body that have an option. */
export function fieldsOf({ operation, without = [] }: ApiCommand): Field[] {
  return (operationOf(operation).body ?? []).filter(({ name }) => !without.includes(name));
}

export function optionsOf(command: ApiCommand): Option[] {
  const { operation, parts = {} } = command;
  const { query, body, changes, csv, pdf, method, tasks } = operationOf(operation);
  const isList = columnsOf(command) !== undefined;
  const paged = isList && query.some(({ name }) => name === 'limit');
  return [
    ...filtersOf(command).map((field) => ({ ...optionOf(field), required: field.required === true })),
    ...Object.entries(parts).map(
      ([name, { text, value, type = 'string' }]): Option => ({ ...optionOf({ name, type, text }), value }),
    ),
    ...fieldsOf(command).map(optionOf),
    ...(body ? BODY : []),
    ...scopesOf(command).map(scopeOption),
    ...(paged ? [LIMIT, ALL] : []),
    ...(isList ? [COLUMNS] : []),
    ...(csv ? [{ name: 'csv', text: isList ? 'All of them, as CSV' : 'As CSV' }] : []),
    ...(pdf ? [{ name: 'pdf', text: 'As PDF, to be written into a file' }] : []),
    ...(tasks ? [{ name: 'wait', text: 'Wait until it is done' }] : []),
    ...(changes ? [{ name: 'dry-run', text: 'Show what it would do, and do nothing' }] : []),
    ...(method === 'DELETE' ? [{ name: 'yes', text: 'Do it without asking' }] : []),
  ];
}

const BODY: readonly Option[] = [
  { name: 'file', value: 'FILE', text: 'All of these from a file with YAML or JSON, or - for standard input' },
  { name: 'data', value: 'JSON', text: 'The body as JSON, as @FILE, or - for standard input' },
];

export const LIMIT: Option = {
  ...optionOf({ name: 'limit', type: 'integer', text: `At most so many (${DEFAULT_ROWS})` }),
};
const ALL: Option = { name: 'all', text: 'All of them, however many' };
const COLUMNS: Option = { name: 'columns', value: 'FIELDS', text: 'Other columns, such as id,name,status' };

function scopeOption({ name, text, listed }: Field): Option {
  const scope = scopeName(name);
  const otherwise = DEFAULTS[scope];
  return {
    name: scope,
    value: 'ID',
    text: `${text}${listed ? `, or ${wordsOf(listed.label)}` : ''}${otherwise ? ` (${otherwise})` : ''}`,
    ...(!otherwise && { required: true }),
  };
}
