// What the command line knows of the operations, taken from the OpenAPI document: "npm run openapi" writes it, and a
// test compares it, so that no command names a parameter or a field that there isn't. One file has the names, for help
// and completion; the other has the rest, which is read when a command needs it.
import path from 'node:path';
import type { Field, Operation as Known, OperationId } from '../cli/api/operations.ts';
import { optionName, RESERVED, SECRET, scopeName } from '../cli/api/values.ts';
import type { OpenApiDocument, Operation, Parameter } from '../src/http/openapi-document.ts';
import { areaOf, commandNames } from './cli-names.ts';

const FOLDER = path.join(import.meta.dirname, '../cli/api');

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  deprecated?: boolean;
  maximum?: number;
}

interface Found {
  id: string;
  method: string;
  address: string;
  operation: Operation;
}

/** Returns the files and their contents for the document. */
export function cliOperations(document: OpenApiDocument): { file: string; text: string }[] {
  const names = commandNames(document);
  const found = Object.entries(document.paths).flatMap(([address, operations]) =>
    Object.entries(operations).map(
      ([method, operation]): Found => ({ id: operation.operationId, method, address, operation }),
    ),
  );
  const used = found.filter(({ id }) => names.has(id)).sort((one, other) => (one.id < other.id ? -1 : 1));
  const index = used.map(({ id, operation }): [string, object] => [
    id,
    { name: names.get(id), summary: operation.summary.replace(/ with a task$/, ''), area: areaOf(operation) },
  ]);
  const known = used.map((each): [string, Known] => [each.id, knownOf(document, used, each, names.get(each.id) ?? '')]);
  return [
    { file: path.join(FOLDER, 'commands.json'), text: lines(index) },
    { file: path.join(FOLDER, 'operations.json'), text: lines(known) },
  ];
}

/** A line for each, so that changes are easy to read and to merge. */
const lines = (entries: readonly [string, unknown][]): string =>
  `{\n${entries.map(([id, value]) => `${JSON.stringify(id)}: ${JSON.stringify(value)}`).join(',\n')}\n}\n`;

function knownOf(document: OpenApiDocument, all: readonly Found[], found: Found, name: string): Known {
  const { method, address, operation } = found;
  const declared = (operation.parameters ?? []).map((one) => resolved<Parameter>(document, one));
  const fields = (place: Parameter['in']) =>
    declared
      .filter((one) => one.in === place)
      .map((one) => fieldOf(document, one.name, { ...one.schema, ...textOf(one) }, one.required === true));
  const body = operation.requestBody?.content['application/json'];
  const group = name.split(' ').slice(0, -1);
  const parameters = fields('path').map((field) => ({ ...field, ...listedIn(document, all, address, field.name) }));
  const positional = parameters.filter(({ name: one }) => !SCOPES.test(one) || scopeName(one) === group.at(-1));
  // Only what changes something can be tried out.
  const changes = declared.some(({ name: header }) => header.toLowerCase() === 'tradewind-dry-run');
  const taken = [...RESERVED, ...parameters.map((one) => scopeName(one.name))];
  const rename = (field: Field): Field =>
    taken.includes(optionName(field.name)) ? { ...field, option: `${group.at(-1)}-${optionName(field.name)}` } : field;
  const query = fields('query').map((field) => (PAGING.includes(field.name) ? field : rename(field)));
  const asked = body && bodyFields(document, body.schema).map(rename);
  const { answer, ...forms } = answerOf(document, operation);
  const tasks = changes && !address.startsWith('/streaming') && namesTasks(answer);
  const known: Known = {
    method: method.toUpperCase(),
    path: address,
    parameters,
    arguments: positional.map((one) => one.name),
    query,
    ...(asked && { body: asked }),
    changes,
    ...(operation.security?.length === 0 && { anonymous: true as const }),
    ...forms,
    ...(tasks && { tasks, ...shownAfter(all, found) }),
    ...(answer && /^list[A-Z]/.test(operation.operationId) && rowsOf(document, answer)),
  };
  const example = asked && exampleOf(name, known, exampleBody(body));
  return { ...known, ...(example && { example }) };
}

/** Parameters that say whose thing it is; options name them. */
const SCOPES = /^(project_id|region_id|client_?id|reseller_?id)$/i;
const PAGING = ['limit', 'offset', 'page', 'page_token'];

const unversioned = (address: string): string =>
  address
    .replace(/\/v\d\//, '/')
    .replace(/\{\w+\}/g, '{}')
    .replaceAll('_', '');

/** The list that has the ID that a parameter of a path wants, by the name that people know. */
function listedIn(
  document: OpenApiDocument,
  all: readonly Found[],
  address: string,
  parameter: string,
): Pick<Field, 'listed'> {
  if (/name$/i.test(parameter)) return {};
  const own = address.slice(0, address.indexOf(`/{${parameter}}`));
  const lists = all.filter(({ id, method }) => method === 'get' && /^list[A-Z]/.test(id));
  const list =
    lists.find((one) => unversioned(one.address) === unversioned(own)) ??
    lists.find((one) => all.some((each) => each.address === `${one.address}/{${parameter}}`));
  const { answer } = list ? answerOf(document, list.operation) : {};
  const row = answer && rowOf(document, answer)?.row;
  const { id, ...others } = row?.properties ?? {};
  const label = LABELS.find((one) => others[one]);
  if (!list || !id || !label) return {};
  const filter = (list.operation.parameters ?? []).some(
    (one) => 'in' in one && one.in === 'query' && one.name === label,
  );
  return { listed: { by: list.id as OperationId, label, ...(filter && { filter }) } };
}

/** What people call things, if they have it. */
const LABELS = ['companyName', 'email', 'name', 'display_name', 'floating_ip_address', 'fixed_ip_address'];

/** The operation that shows what a task made or changed. */
function shownAfter(all: readonly Found[], { method, address }: Found): Pick<Known, 'shown'> {
  const path = unversioned(address);
  const getters = all
    .filter((one) => one.method === 'get' && one.address.endsWith('}'))
    .sort((one, other) => other.address.length - one.address.length);
  const made = method === 'post' && getters.find((one) => unversioned(one.address) === `${path}/{}`);
  const same = method !== 'delete' && getters.find((one) => `${path}/`.startsWith(`${unversioned(one.address)}/`));
  const shown = made || same;
  return shown ? { shown: shown.id as OperationId } : {};
}

function answerOf(document: OpenApiDocument, { responses }: Operation): { csv?: true; pdf?: true; answer?: Schema } {
  const given = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  const { schema } = (given['application/json'] ?? {}) as { schema?: Schema };
  const forms = {
    ...('text/csv' in given && { csv: true as const }),
    ...('application/pdf' in given && { pdf: true as const }),
  };
  return { ...forms, ...(schema && { answer: resolved<Schema>(document, schema) }) };
}

function namesTasks(answer: Schema | undefined): true | undefined {
  const { type, items, properties = {} } = answer ?? {};
  const named = properties.task_id ?? properties.tasks;
  return (type === 'array' && items?.format === 'uuid') || named ? true : undefined;
}

/** The rows of a list, and the field of the answer that has them. */
function rowOf(document: OpenApiDocument, answer: Schema): { place: string; row: Schema } | undefined {
  const forms = (answer.anyOf ?? [answer]).map((one) => resolved<Schema>(document, one));
  // Some lists are arrays unless a page is asked for.
  const whole = forms.find((one) => one.properties?.results) ?? forms[0] ?? answer;
  const [place, list] =
    whole.type === 'array'
      ? ['', whole]
      : (Object.entries(whole.properties ?? {})
          .map(([name, one]): [string, Schema] => [name, resolved<Schema>(document, one)])
          .find(([, { type, items }]) => type === 'array' && items) ?? []);
  if (place === undefined || !list?.items) return undefined;
  return { place, row: resolved<Schema>(document, list.items) };
}

const MOST_COLUMNS = 6;
/** Columns that tables begin with, if there are such fields. */
const FIRST = ['name', 'display_name', 'title', 'status', 'state', 'provisioning_status', 'operating_status'];
/** What the reader knows, or doesn't want to. */
const DULL = /^(project_id|region_id|region|client_id|.*task_id|tags|metadata|updated_at|url|task_state|vm_state)$/;
const LAST = /(_at|_on)$/;

/** What tells things from each other. */
const TELLING = /address|cidr|size|type|flavor|version|protocol/;

function rowsOf(document: OpenApiDocument, answer: Schema): Pick<Known, 'rows' | 'columns'> {
  const { place, row } = rowOf(document, answer) ?? {};
  if (place === undefined || !row) return {};
  const fields = Object.entries(row.properties ?? {}).map(([name, one]) => ({
    name,
    ...resolved<Schema>(document, one),
  }));
  const plain = fields.filter(isPlain);
  const own = fields.find(({ name }) => name === 'id') ?? plain.find(({ name }) => name.endsWith('_id'));
  const rank = ({ name, type }: { name: string } & Schema): number => {
    if (name === own?.name) return -1;
    if (FIRST.includes(name)) return FIRST.indexOf(name);
    if (LAST.test(name)) return 99;
    return TELLING.test(name) ? 20 : type === 'boolean' ? 60 : 50;
  };
  const kept = plain.filter((one) => one.name === own?.name || !DULL.test(one.name));
  const columns = kept.sort((one, other) => rank(one) - rank(other)).map(({ name }) => name);
  // Some rows are texts.
  return { rows: place, columns: columns.length > 0 ? columns.slice(0, MOST_COLUMNS) : [''] };
}

/** Whether a value has no parts. */
function isPlain({ type, deprecated, enum: values, const: only }: Schema): boolean {
  const types = [type].flat().filter((one) => one !== 'null');
  if (deprecated || type === 'null') return false;
  if (types.length === 0) return values !== undefined || only !== undefined;
  return types.every((one) => one !== undefined && ['string', 'integer', 'number', 'boolean'].includes(one));
}

interface Media {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

const exampleBody = ({ example, examples = {} }: Media): unknown => example ?? Object.values(examples)[0]?.value;

const LONG = 140;

/** Something to type, as short as it can be. */
function exampleOf(name: string, { parameters, arguments: named, body = [], query }: Known, example: unknown): string {
  const given = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>;
  const places = parameters.filter((one) => named.includes(one.name)).map((one) => placeholderOf(one));
  const scopes = parameters
    .filter((one) => !named.includes(one.name) && !/^(project_id|region_id|client_?id)$/i.test(one.name))
    .map((one) => `--${scopeName(one.name)} 1`);
  const asked = query
    .filter(({ required }) => required)
    .map((one) => `--${optionName(one.name)} ${placeholderOf(one)}`);
  const start = ['tradewind', name, ...places, ...scopes, ...asked].join(' ');
  const flags = (some: readonly Field[]) => [start, ...some.flatMap((one) => flagsOf(one, given[one.name]))].join(' ');
  const known = body.filter((one) => one.name in given);
  const all = flags(known);
  if (all.length <= LONG) return all;
  const shorter = [
    flags(known.filter(({ required, type }) => required || type !== 'json')),
    flags(known.filter(({ required }) => required)),
  ].find((text) => text.length <= LONG && text !== start);
  return shorter ?? `${start} --file ${name.split(' ').at(-2)}.yaml`;
}

const NAMED: Readonly<Record<string, string>> = { email: 'ina@acme.example', name: 'web' };

const placeholderOf = ({ type, values, name, listed }: Field): string =>
  NAMED[listed?.label ?? ''] ??
  values?.[0] ??
  (type === 'integer' ? '1' : name.replace(/_?id$/i, '').toUpperCase() || 'ID');

function flagsOf({ name, option = optionName(name), type, many }: Field, value: unknown): string[] {
  if (SECRET.test(name)) return value === undefined ? [] : [`--${option}-file ${name}.txt`];
  if (value === undefined || value === null) return [];
  if (many && Array.isArray(value)) return value.map((each) => `--${option} ${quoted(each)}`);
  return [`--${option} ${type === 'json' ? quoted(JSON.stringify(value)) : quoted(value)}`];
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The fields of a body; of one that has several forms, those of all of them. */
function bodyFields(document: OpenApiDocument, given: Schema): Field[] {
  const { properties = {}, required = [], oneOf, anyOf } = resolved<Schema>(document, given);
  const own = Object.entries(properties)
    .map(([name, each]) => fieldOf(document, name, each, required.includes(name)))
    .filter(({ type }) => type !== '');
  const forms = (oneOf ?? anyOf ?? []).map((one) => bodyFields(document, one));
  const all = new Map<string, Field>();
  for (const field of [...own, ...forms.flat()]) {
    const before = all.get(field.name);
    const values = [...new Set([...(before?.values ?? []), ...(field.values ?? [])])];
    const always = own.some((one) => one.name === field.name)
      ? required.includes(field.name)
      : forms.every((form) => form.some((one) => one.name === field.name && one.required));
    const { required: _, ...rest } = before ?? field;
    all.set(field.name, { ...rest, ...(values.length > 0 && { values }), ...(always && { required: true }) });
  }
  return [...all.values()];
}

function fieldOf(document: OpenApiDocument, name: string, given: Schema, required: boolean): Field {
  const outer = resolved<Schema>(document, given);
  const many = [outer.type].flat().includes('array');
  const schema = many ? resolved<Schema>(document, outer.items ?? {}) : outer;
  const parts = (schema.anyOf ?? schema.oneOf ?? [schema]).map((one) => resolved<Schema>(document, one));
  const values = parts.flatMap((one) => one.enum ?? (one.const === undefined ? [] : [one.const]));
  return {
    name,
    type: typeOf(parts),
    ...(many && { many }),
    ...(values.length > 0 && { values: values.filter((value) => value !== null).map(String) }),
    ...(required && { required }),
    ...(schema.maximum !== undefined && schema.maximum <= 100_000 && { max: schema.maximum }),
    text: firstSentence(given.description ?? outer.description ?? ''),
  };
}

/** Empty for what is only there to be ignored, such as the fields of an answer that somebody sends back. */
function typeOf(parts: Schema[]): string {
  const types = new Set(parts.flatMap((one) => one.type ?? (one.enum ? typesOf(one.enum) : [])));
  types.delete('null');
  if (types.size === 0) return parts.some((one) => one.const !== undefined) ? 'string' : '';
  const [only = ''] = types;
  return types.size === 1 && ['string', 'integer', 'number', 'boolean'].includes(only) ? only : 'json';
}

const typesOf = (values: unknown[]): string[] => values.map((value) => (value === null ? 'null' : typeof value));

function textOf(one: object): { description?: string } {
  return 'description' in one ? { description: String(one.description) } : {};
}

function firstSentence(text: string): string {
  return (/^.*?(?=\.(\s|$)|$)/.exec(text)?.[0] ?? '').trim();
}

function resolved<T>(document: OpenApiDocument, one: T | { $ref?: string }): T {
  const reference = (one as { $ref?: string }).$ref;
  if (reference === undefined) return one as T;
  const at = reference.split('/').slice(1);
  const target = at.reduce<unknown>((place, key) => (place as Record<string, unknown>)[key], document);
  return resolved(document, target as T);
}
