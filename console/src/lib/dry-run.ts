import { ApiError, send } from './api.ts';
import type { Call } from './call.ts';
import { isObject } from './changes.ts';

/** A change to one value, with what was there before. */
export interface Difference {
  /** Names of what it is in, from the outside in. */
  path: string[];
  before: unknown;
  after: unknown;
  /** Whether a person chose it, for something new. */
  chosen?: boolean;
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
  /** Whether the differences are the fields of a new thing. */
  creates: boolean;
}

interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/** Stands for a value that will be another one once the request is sent, such as an ID or a key. */
export const MADE = 'made on creation';
/** Tasks are told of by themselves; the others change with everything else. */
const UNSAID: readonly (string | undefined)[] = ['task_id', 'creator_task_id', 'updated_at', 'revision_number'];

type Answer = Omit<DryRun, 'creates' | 'differences'> & { resource: string | null; changes: Operation[] };
/** What the page says, or what is said of every new thing. */
const KNOWN = [
  'id',
  'created',
  'created_at',
  'created_on',
  'deleted',
  'expired',
  'last_usage',
  'region',
  'revision_number',
  'status',
  'vm_state',
  'task_state',
];
/** An ID is left out if its name stands beside it. */
export const isSaid = (name: string, within: object): boolean =>
  !KNOWN.includes(name) && !(name.endsWith('_id') && name.replace(/id$/, 'name') in within);
const PLACES = ['client_id', 'project_id', 'region_id'];
/** Names of fields that may be secret. The console shows them only if the answer does. */
const HIDDEN = /"\w*(password|secret|payload|private|token|user_data|url)\w*":/;
const ask = (call: Call) => send(call, { 'tradewind-dry-run': 'true' }) as Promise<Answer>;

/** Asks the server what a request would do. Nothing is changed. @throws ApiError with the refusal that the request would get */
export async function dryRun(call: Call): Promise<DryRun> {
  const answer = await ask(call);
  const { resource, changes } = answer;
  const [whole] = changes;
  if (changes.length === 1 && whole?.path === '' && isObject(whole.value)) {
    // What a second answer has other values for is made up each time.
    const again = await ask(call);
    const chosen = isObject(call.body) ? call.body : {};
    return {
      ...answer,
      creates: true,
      differences: madeOf(whole.value, again.changes[0]?.value, chosen).filter(
        ({ path: [name = ''], after }) =>
          isSaid(name, whole.value as object) &&
          !(PLACES.includes(name) && call.path.split('/').includes(String(after))),
      ),
    };
  }
  const before = changes.length > 0 && resource !== null ? await read(resource) : undefined;
  const differences = changes
    .map((change) => differenceOf(before, { ...change, value: lasting(change.value, change.value) }))
    .filter(({ path }) => !UNSAID.includes(path.at(-1)));
  return { ...answer, creates: false, differences };
}

/**
 * The fields of a new thing that have a value. The person's choices come first, and objects and lists are shown as they
 * were sent, since answers leave out some of their fields. Values that are made on creation come last.
 */
function madeOf(value: Record<string, unknown>, again: unknown, chosen: Record<string, unknown>): Difference[] {
  const rank = ({ chosen, after }: Difference) => (chosen ? 0 : after === MADE ? 2 : 1);
  const made = lasting(value, again) as Record<string, unknown>;
  const own = Object.entries(chosen).filter(
    ([name, one]) =>
      !HIDDEN.test(JSON.stringify({ [name]: one })) &&
      (!(name in made) || typeof one === 'object' || typeof made[name] === 'object'),
  );
  return Object.entries({ ...made, ...Object.fromEntries(own) })
    .filter(([name, after]) => !UNSAID.includes(name) && !isEmpty(after))
    .map(([name, after]) => ({ path: [name], before: undefined, after, chosen: name in chosen }))
    .sort((one, other) => rank(one) - rank(other));
}

export const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.values(value).every(isEmpty));

/** The value with a word in place of each that another answer has differently, or that is a time. */
function lasting(value: unknown, again: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const others: unknown[] = Array.isArray(again) ? again : [];
    return value.map((one, index) => lasting(one, others[index]));
  }
  if (isObject(value)) {
    const other = isObject(again) ? again : {};
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, lasting(one, other[key], key)]));
  }
  const isTime = typeof value === 'string' && /^(created|updated)_(at|on)$/.test(name);
  return isTime || value !== again ? MADE : value;
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
