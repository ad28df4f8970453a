import { ApiError, send } from './api.ts';
import type { Call } from './call.ts';

/** A change to one value, with what was there before. */
export interface Difference {
  /** Names of what it is in, from the outside in. */
  path: string[];
  before: unknown;
  after: unknown;
}

/** What a request would do, as the API tells it. */
export interface DryRun {
  tasks: {
    type: string;
    steps: { action: 'change' | 'create' | 'remove'; kind: string; id: string; fields?: string[] }[];
  }[];
  price_per_month_difference: number | null;
  currency_code: string | null;
  quotas: { region_id: number; attribute: string; used_before: number; used: number }[];
  differences: Difference[];
}

interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/** Asks the server what a request would do. Nothing is changed. @throws ApiError with the refusal that the request would get */
export async function dryRun(call: Call): Promise<DryRun> {
  const answer = (await send(call, { 'tradewind-dry-run': 'true' })) as Omit<DryRun, 'differences'> & {
    resource: string | null;
    changes: Operation[];
  };
  const { resource } = answer;
  // That a task holds it is said by the tasks.
  const changes = answer.changes.filter(({ path }) => path !== '/task_id');
  const before = changes.length > 0 && resource !== null ? await read(resource) : undefined;
  return { ...answer, differences: changes.map((change) => differenceOf(before, change)) };
}

/** What will be made can't be read yet. */
async function read(path: string): Promise<unknown> {
  try {
    return await send({ method: 'GET', path });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function differenceOf(before: unknown, { op, path, value }: Operation): Difference {
  const names = path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { path: names, before: op === 'add' ? undefined : valueAt(before, names), after: value };
}

function valueAt(whole: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || typeof whole !== 'object' || whole === null) return name === undefined ? whole : undefined;
  return valueAt((whole as Record<string, unknown>)[name], rest);
}
