import { type ClientCommand, type Context, textIn, type Values } from '../command.ts';
import { UsageError } from '../errors.ts';
import { waitForTask } from '../tasks/waiting.ts';
import { type Columns, valueAt } from '../terminal/output.ts';
import type { ApiCommand, Part } from './api-command.ts';
import type { Api, Input } from './client.ts';
import { type Field, type OperationId, operationOf } from './operations.ts';
import { argumentsOf, DEFAULT_ROWS, fieldsOf, filtersOf, OWN, optionsOf, scopeName } from './options.ts';
import { contentsOf, isSecret, jsonIn, optionName } from './values.ts';

/** Rows of one request, where the operation sets no smaller limit. */
const PAGE = 100;

export interface Rows {
  rows: unknown[];
  /** Whether there are others. */
  more: boolean;
  /** The answer, if it has another form, such as CSV. */
  text?: string;
}

/** Reads as many rows of a list as are asked for, over as many pages as it takes. */
export async function rowsOf(
  api: Api,
  id: OperationId,
  { input, place, limit }: { input: Input; place: string; limit: number },
): Promise<Rows> {
  const { query } = operationOf(id);
  const sized = query.find(({ name }) => name === 'limit');
  const byToken = query.some(({ name }) => name === 'page_token');
  const rows: unknown[] = [];
  let token: unknown;
  for (;;) {
    // One more than wanted tells whether there are others.
    const size = Math.min(PAGE, sized?.max ?? PAGE, limit + 1 - rows.length);
    const page = byToken ? { page_token: token } : { offset: rows.length || undefined };
    const parameters = { ...input.parameters, ...(sized && { limit: size, ...page }) };
    const answer = await api.call(id, { ...input, parameters });
    if (typeof answer === 'string') return { rows, more: false, text: answer };
    const found = listIn(answer, place);
    rows.push(...found);
    token = (answer as { next_page_token?: string | null })?.next_page_token ?? undefined;
    const last = !sized || (byToken ? token === undefined : found.length < size);
    if (last || rows.length > limit) return { rows: rows.slice(0, limit), more: rows.length > limit };
  }
}

/** The list in an answer: itself, or one of its fields. */
function listIn(answer: unknown, place: string): unknown[] {
  const list = Array.isArray(answer) ? answer : (answer as Record<string, unknown>)[place];
  return Array.isArray(list) ? list : [];
}

export function commandOf(described: ApiCommand): ClientCommand {
  const { name, operation, summary, help } = described;
  return {
    name,
    summary: summary ?? operationOf(operation).summary,
    ...(help !== undefined && { help }),
    arguments: argumentsOf(described),
    options: optionsOf(described),
    operations: [operation],
    run: (context) => run(described, context),
  };
}

const run = (described: ApiCommand, context: Context): Promise<void> =>
  described.columns ? list(described, described.columns, context) : ask(described, context);

async function list(described: ApiCommand, columns: Columns, context: Context): Promise<void> {
  const { operation, rows = 'results' } = described;
  const { api, values, output, terminal } = context;
  const parameters = await parametersOf(described, context);
  const body = await bodyOf(described, context);
  if (values.csv) {
    const headers = { accept: 'text/csv, application/problem+json' };
    for await (const text of await api.stream(operation, { parameters, headers })) terminal.out(text);
    return;
  }
  const limit = values.all ? Number.MAX_SAFE_INTEGER : Number(values.limit ?? DEFAULT_ROWS);
  const input = { parameters, ...(body !== undefined && { body }) };
  const found = await rowsOf(api, operation, { input, place: rows, limit });
  if (found.text !== undefined) return terminal.out(found.text);
  output.rows(found.rows, columns);
  if (found.more) output.note('There are more: --all shows them.');
}

async function ask(described: ApiCommand, context: Context): Promise<void> {
  const { operation, tasks, only } = described;
  const { api, values, output, terminal } = context;
  const parameters = await parametersOf(described, context);
  const body = await bodyOf(described, context);
  const dryRun = values['dry-run'] === true;
  await confirm(described, context);
  const answer = await api.call(operation, { parameters, body, dryRun });
  const begun = tasks && !dryRun ? tasksIn(answer) : [];
  if (values.wait && begun.length > 0) {
    for (const id of begun) output.thing(await waitForTask(context, id));
    return;
  }
  if (answer === undefined) output.done('Done.');
  else if (typeof answer === 'string') terminal.out(answer);
  else if (only !== undefined && !dryRun && !output.json) output.thing(valueAt(answer, only));
  else output.thing(answer);
}

async function parametersOf(described: ApiCommand, { api, values }: Context): Promise<Values> {
  const path = await Promise.all(
    operationOf(described.operation).parameters.map(async ({ name }) => {
      const scope = scopeName(name);
      return [name, values[scope] ?? (await own(api, scope))];
    }),
  );
  const query = filtersOf(described).map(({ name }) => [name, values[optionName(name)]]);
  return Object.fromEntries([...path, ...query]);
}

async function own(api: Api, scope: string): Promise<unknown> {
  if (scope !== OWN) throw new UsageError(`--${scope} is needed`);
  return ((await api.call('getMyAccount')) as { id: number }).id;
}

async function bodyOf(described: ApiCommand, { api, values, terminal }: Context): Promise<unknown> {
  const { operation, parts = {}, body: always = {} } = described;
  const known = operationOf(operation).body;
  if (!known) return undefined;
  const data = textIn(values, 'data');
  const given = data === undefined ? {} : jsonIn(await dataOf(data, terminal), '--data');
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const body: Record<string, unknown> = { ...always, ...given };
  for (const field of fieldsOf(described)) {
    const value = isSecret(field)
      ? await secretOf(textIn(values, `${optionName(field.name)}-file`), terminal)
      : values[optionName(field.name)];
    if (value !== undefined) body[field.name] = value;
  }
  for (const [name, part] of Object.entries(parts)) {
    const value = values[name] ?? (data === undefined ? await otherwise(part, api) : undefined);
    if (value !== undefined) put(body, part.at, value);
  }
  const missing = known.filter(({ name, required }) => required && body[name] === undefined);
  if (missing.length > 0)
    throw new UsageError(`Missing: ${missing.map((field) => optionFor(field, parts)).join(', ')}`);
  return body;
}

const otherwise = (part: Part, api: Api): unknown => (part.ownClient ? own(api, OWN) : part.default);

/** The option that fills in a field. */
function optionFor(field: Field, parts: NonNullable<ApiCommand['parts']>): string {
  const part = Object.keys(parts).find((name) => parts[name]?.at[0] === field.name);
  return `--${part ?? `${optionName(field.name)}${isSecret(field) ? '-file' : ''}`}`;
}

function dataOf(data: string, { readInput }: Context['terminal']): Promise<string> | string {
  return data === '-' || data.startsWith('@') ? contentsOf(data.replace(/^@/, ''), readInput) : data;
}

async function secretOf(file: string | undefined, { readInput }: Context['terminal']): Promise<string | undefined> {
  return file === undefined ? undefined : (await contentsOf(file, readInput)).replace(/\r?\n$/, '');
}

function put(body: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = { ...(body[first] as Record<string, unknown> | undefined) };
  put(inner, rest, value);
  body[first] = inner;
}

/** What can't be undone is asked for. */
async function confirm(described: ApiCommand, { values, terminal }: Context): Promise<void> {
  const { name, operation } = described;
  if (operationOf(operation).method !== 'DELETE' || values.yes || values['dry-run']) return;
  const which = argumentsOf(described).flatMap((one) => textIn(values, one.name) ?? []);
  const answer = await terminal.ask(`${[operationOf(operation).summary, ...which].join(' ')}: are you sure? [y/N] `);
  if (answer === undefined) throw new UsageError(`"tradewind ${name}" asks first, and there is no terminal: add --yes`);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Nothing was done.');
}

/** Answers name tasks in a list, or among the fields of what they work on. */
function tasksIn(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.map(String);
  const { task_id, tasks } = answer as { task_id?: string | null; tasks?: string[] };
  return tasks ?? (task_id ? [task_id] : []);
}
