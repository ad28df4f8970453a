import { type Context, textIn, type Values } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../errors.ts';
import { valueAt } from '../terminal/output.ts';
import type { ApiCommand } from './api-command.ts';
import type { Api } from './client.ts';
import commands from './commands.json' with { type: 'json' };
import { type Field, type OperationId, operationOf } from './operations.ts';
import { filtersOf } from './options.ts';
import { rowsOf } from './rows.ts';
import { optionNameOf, scopeName } from './values.ts';

/** Rows among which a name is looked for. */
const MOST = 10_000;
/** One request has them. */
const FEW = 99;

/** Returns the parameters of the path and of the query. Things of the path may be named. */
export async function parametersOf(command: ApiCommand, context: Context): Promise<Values> {
  const { api, values, terminal } = context;
  const known: Record<string, unknown> = {};
  for (const field of operationOf(command.operation).parameters) {
    const scope = scopeName(field.name);
    const given = textIn(values, scope) ?? settingOf(scope, terminal.environment);
    known[field.name] = given === undefined ? await defaultOf(api, scope) : await idOf(api, field, given, known);
  }
  const query = filtersOf(command).map((field) => [field.name, values[optionNameOf(field)]]);
  return { ...known, ...Object.fromEntries(query) };
}

function settingOf(scope: string, environment: Context['terminal']['environment']): string | undefined {
  if (scope === 'project') return environment.TRADEWIND_PROJECT || undefined;
  return scope === 'region' ? environment.TRADEWIND_REGION || undefined : undefined;
}

const isId = (text: string): boolean => /^(\d+|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i.test(text);

async function idOf(api: Api, { listed }: Field, given: string, parameters: Values): Promise<unknown> {
  if (!listed || isId(given)) return given;
  const { by, label, filter } = listed;
  const found = await listOf(api, by, { ...parameters, ...(filter && { [label]: given }) }, MOST);
  const matching = found.filter((row) => valueAt(row, label) === given);
  if (matching.length === 1) return valueAt(matching[0], 'id');
  const { name } = commands[by];
  const thing = name.split(' ').slice(0, -1).join(' ').replaceAll('-', ' ');
  if (matching.length === 0)
    throw new CommandError(`There is no ${thing} ${given}. "tradewind ${name}" shows what there is.`, EXIT.refused);
  const ids = matching.map((row) => valueAt(row, 'id')).join(', ');
  throw new UsageError(`${given} is the name of ${matching.length}. Give an ID instead: ${ids}`);
}

async function defaultOf(api: Api, scope: string): Promise<unknown> {
  if (scope === 'client') return ownClient(api);
  const isProject = scope === 'project';
  if (!isProject && scope !== 'region') throw new UsageError(`--${scope} is needed`);
  const all = await listOf(api, isProject ? 'listProjects' : 'listRegions', {}, FEW);
  const only = all.length === 1 ? all[0] : all.find((row) => isProject && valueAt(row, 'is_default') === true);
  if (only) return valueAt(only, 'id');
  const label = isProject ? 'name' : 'display_name';
  const names = all.map((row) => `${valueAt(row, 'id')} (${valueAt(row, label)})`).join(', ');
  throw new UsageError(
    all.length === 0
      ? `The token has no ${scope}`
      : `Which ${scope}? Set TRADEWIND_${scope.toUpperCase()}, or --${scope}, to one of ${names}`,
  );
}

export async function ownClient(api: Api): Promise<unknown> {
  return ((await api.call('getMyAccount')) as { id: number }).id;
}

async function listOf(api: Api, id: OperationId, parameters: Values, limit: number): Promise<unknown[]> {
  const { rows: place = 'results' } = operationOf(id);
  return (await rowsOf(api, id, { input: { parameters }, place, limit })).rows;
}
