import { type ClientCommand, type Context, textIn } from '../command.ts';
import { UsageError } from '../errors.ts';
import { waitForTask } from '../tasks/waiting.ts';
import { type Columns, valueAt } from '../terminal/output.ts';
import type { ApiCommand, Part } from './api-command.ts';
import type { Input } from './client.ts';
import { ownClient, parametersOf } from './naming.ts';
import { type Field, operationOf } from './operations.ts';
import { argumentsOf, columnsOf, DEFAULT_ROWS, fieldsOf, headed, optionsOf } from './options.ts';
import { rowsOf } from './rows.ts';
import { contentsOf, isSecret, jsonIn, optionNameOf } from './values.ts';

/** Its parts are made when they are needed, from a file that is read then. */
export function commandOf(described: ApiCommand): ClientCommand {
  const { name, operation, summary, help } = described;
  return {
    name,
    summary,
    get help() {
      const { example } = operationOf(operation);
      const shown = example && !described.parts && !described.fixed && `For example:\n  ${example}`;
      return [help, shown].filter(Boolean).join('\n\n') || undefined;
    },
    get arguments() {
      return argumentsOf(described);
    },
    get options() {
      return optionsOf(described);
    },
    get anonymous() {
      return operationOf(operation).anonymous;
    },
    run: (context) => run(described, context),
  };
}

function run(described: ApiCommand, context: Context): Promise<void> {
  const columns = columnsOf(described);
  return columns ? list(described, columns, context) : ask(described, context);
}

async function list(described: ApiCommand, columns: Columns, context: Context): Promise<void> {
  const { operation, rows = operationOf(operation).rows ?? 'results' } = described;
  const { api, values, output, terminal } = context;
  const parameters = await parametersOf(described, context);
  const body = await bodyOf(described, context);
  if (await printFile(described, context, parameters)) return;
  const limit = values.all ? Number.MAX_SAFE_INTEGER : Number(values.limit ?? DEFAULT_ROWS);
  const input = { parameters, ...(body !== undefined && { body }) };
  const found = await rowsOf(api, operation, { input, place: rows, limit });
  if (found.text !== undefined) return terminal.out(found.text);
  const asked = textIn(values, 'columns')?.split(',');
  output.rows(found.rows, asked ? headed(asked.map((each) => each.trim())) : columns);
  if (found.more) output.note('There are more: --all shows them.');
}

const FILE_TYPES = { csv: 'text/csv', pdf: 'application/pdf' };

/** Prints the answer in the form that is asked for instead of a table, if one is. */
async function printFile(
  { operation }: ApiCommand,
  { api, values, terminal }: Context,
  parameters: Record<string, unknown>,
): Promise<boolean> {
  const type = Object.entries(FILE_TYPES).find(([name]) => values[name])?.[1];
  if (type === undefined) return false;
  const headers = { accept: `${type}, application/problem+json` };
  for await (const piece of await api.file(operation, { parameters, headers })) terminal.out(piece);
  return true;
}

async function ask(described: ApiCommand, context: Context): Promise<void> {
  const { operation, only } = described;
  const { api, values, output, terminal } = context;
  const dryRun = values['dry-run'] === true;
  const body = await bodyOf(described, context);
  const parameters = await parametersOf(described, context);
  if (await printFile(described, context, parameters)) return;
  await confirm(described, context);
  const answer = await api.call(operation, { parameters, body, dryRun });
  const begun = operationOf(operation).tasks && !dryRun ? tasksIn(answer) : [];
  if (values.wait && begun.length > 0) return wait(described, context, begun, { parameters, body });
  if (answer === undefined) output.done('Done.');
  else if (typeof answer === 'string') terminal.out(answer);
  else if (only !== undefined && !dryRun && !output.json) output.thing(valueAt(answer, only));
  else if (begun.length > 0 && Array.isArray(answer) && !output.json) {
    output.thing({ task: begun });
    output.note(`"tradewind wait task ${begun.at(-1)}" waits for it; so does --wait.`);
  } else output.thing(answer);
}

/** Waits for the tasks, and then shows the thing that was made or changed. Shows the task instead if the thing is gone or unknown. */
async function wait(described: ApiCommand, context: Context, begun: readonly string[], input: Input): Promise<void> {
  const { shown, path } = operationOf(described.operation);
  const { api, output } = context;
  let created: Created = null;
  for (const id of begun) {
    const task = await waitForTask(context, id);
    created = task.created_resources ?? created;
    if (!shown) output.thing(task);
  }
  if (!shown) return;
  const { name = '' } = operationOf(shown).parameters.at(-1) ?? {};
  const known = input.parameters?.[name] ?? (name.endsWith('name') ? valueAt(input.body, 'name') : idIn(created, path));
  if (known === undefined) return output.thing({ task: begun, created });
  output.thing(await api.call(shown, { parameters: { ...input.parameters, [name]: known } }));
}

type Created = Awaited<ReturnType<typeof waitForTask>>['created_resources'];

/** The ID under the word that the path ends with: of a machine, not of what was made for it. */
function idIn(created: Created, path: string): unknown {
  const lists = Object.entries(created ?? {});
  const plain = (text = '') => text.replace(/[^a-z]/g, '');
  const word = plain(path.split('/').findLast((part) => !part.startsWith('{')));
  const [, ids] =
    lists.find(([kind]) => word.endsWith(plain(kind)) || plain(kind).endsWith(word)) ??
    (lists.length === 1 ? lists[0] : undefined) ??
    [];
  return ids?.[0];
}

async function bodyOf(described: ApiCommand, context: Context): Promise<unknown> {
  const { operation, parts = {}, body: always = {}, fixed = {} } = described;
  const { api, values, terminal } = context;
  const known = operationOf(operation).body;
  if (!known) return undefined;
  const given = await givenBody(context);
  // Some bodies are lists.
  if (Array.isArray(given) && known.length === 0) return given;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new UsageError('The body must have fields such as "name: web"');
  const body: Record<string, unknown> = { ...always, ...given, ...fixed };
  for (const field of fieldsOf(described)) {
    const option = optionNameOf(field);
    const value = isSecret(field) ? await secretOf(field, textIn(values, `${option}-file`), terminal) : values[option];
    if (value !== undefined) body[field.name] = value;
  }
  const whole = values.data !== undefined || values.file !== undefined;
  for (const [name, part] of Object.entries(parts)) {
    const value = values[name] ?? (whole ? undefined : await otherwise(part, api));
    if (value !== undefined) put(body, part.at, value);
  }
  const missing = known.filter(({ name, required }) => required && body[name] === undefined);
  if (missing.length > 0)
    throw new UsageError(`Missing: ${missing.map((field) => optionFor(field, parts)).join(', ')}`);
  return body;
}

/** What --file or --data has. */
async function givenBody({ values, terminal }: Context): Promise<unknown> {
  const [data, file] = [textIn(values, 'data'), textIn(values, 'file')];
  if (data !== undefined && file !== undefined) throw new UsageError('Give --file or --data, not both');
  if (data !== undefined) return jsonIn(await dataOf(data, terminal), '--data');
  return file === undefined ? {} : valueIn(file, terminal);
}

const otherwise = (part: Part, api: Context['api']): unknown => (part.ownClient ? ownClient(api) : part.default);

async function valueIn(file: string, { readInput }: Context['terminal']): Promise<unknown> {
  const text = await contentsOf(file, readInput);
  return /\.json$/i.test(file) ? jsonIn(text, file) : yamlIn(text, file === '-' ? 'Standard input' : file);
}

async function yamlIn(text: string, source: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${source} is no YAML: ${(error as Error).message}`);
  }
}

/** The option that fills in a field. */
function optionFor(field: Field, parts: NonNullable<ApiCommand['parts']>): string {
  const part = Object.keys(parts).find((name) => parts[name]?.at[0] === field.name);
  return `--${part ?? `${optionNameOf(field)}${isSecret(field) ? '-file' : ''}`}`;
}

function dataOf(data: string, { readInput }: Context['terminal']): Promise<string> | string {
  return data === '-' || data.startsWith('@') ? contentsOf(data.replace(/^@/, ''), readInput) : data;
}

async function secretOf(
  { type }: Field,
  file: string | undefined,
  { readInput }: Context['terminal'],
): Promise<unknown> {
  if (file === undefined) return undefined;
  const text = await contentsOf(file, readInput);
  return type === 'json' ? yamlIn(text, file) : text.replace(/\r?\n$/, '');
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
  const { name, operation, summary } = described;
  if (operationOf(operation).method !== 'DELETE' || values.yes || values['dry-run']) return;
  const which = argumentsOf(described).flatMap((one) => textIn(values, one.name) ?? []);
  const answer = await terminal.ask(`${[summary, ...which].join(' ')}: are you sure? [y/N] `);
  if (answer === undefined) throw new UsageError(`"tradewind ${name}" asks first, and there is no terminal: add --yes`);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Nothing was done.');
}

/** Answers name tasks in a list, or among the fields of what they work on. */
function tasksIn(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.map(String);
  const { task_id, tasks } = answer as { task_id?: string | null; tasks?: string[] };
  return tasks ?? (task_id ? [task_id] : []);
}
