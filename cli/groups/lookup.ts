import type { Api } from '../api/client.ts';
import type { OperationId } from '../api/operations.ts';
import { type ClientCommand, type Context, textIn, type Values } from '../command.ts';
import { RefusedError, UsageError } from '../errors.ts';
import type { Columns } from '../terminal/output.ts';

export const THINGS: Columns = {
  ID: 'id',
  KIND: 'kind',
  NAME: 'name',
  STATE: 'state',
  CLIENT: 'client_id',
  PROJECT: 'project_id',
  REGION: 'region_id',
};

/** Tasks and resources of all accounts that the caller manages. */
export const lookup: readonly ClientCommand[] = [
  {
    name: 'find',
    summary: 'Find anything, and what was done with it: requests, tasks, steps, and what the backend said',
    help: 'Looks through all accounts that you manage. --at shows what happened around that time, else the last tasks are shown. A time of day is the last one in the time zone of this machine.',
    arguments: [{ name: 'query', text: 'An ID, an IP address, or the beginning of a name, company or e-mail address' }],
    options: [
      {
        name: 'at',
        value: 'TIME',
        text: 'When it happened, such as 14:05 or 2026-05-23T14:05:00Z',
        read: momentOf,
      },
      {
        name: 'within',
        value: 'MINUTES',
        text: 'How far before and after that time to look (15)',
        read(text) {
          if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError(`--within must be a number of minutes, not ${text}`);
          return Number(text);
        },
      },
    ],
    run: find,
  },
];

interface Thing {
  kind: string | null;
  id: string;
  name: string | null;
  client_id: number | null;
  state?: string | null;
}
interface Task {
  id: string;
  task_type: string;
  state: string;
  client_id: number;
  request_id: string | null;
  error: string | null;
  created_on: string;
  finished_on: string | null;
  waits_for: object | null;
}
interface Found {
  resources: Thing[];
  former: Thing[];
  tasks: Task[];
  customers: { id: number; company: string; email: string; status: string }[];
  users: { id: number; email: string; client_ids: number[] }[];
  addresses: { address: string; kind: string; id: string; client_id: number; from: string; to: string | null }[];
  requests: { request_id: string }[];
  complete: boolean;
}

/** More is not shown of one search. */
const MOST = { things: 20, accounts: 5, tasks: 10, records: 20 };
const MINUTES = 15;
const MINUTE_MS = 60_000;

async function find(context: Context): Promise<void> {
  const { api, values, output, terminal } = context;
  const found = (await api.call('search', { parameters: { q: textIn(values, 'query') } })) as Found;
  const times = timesIn(values);
  const tasks = await tasksOf(api, found, times);
  const requests = await requestsOf(api, { found, tasks, times });
  const steps = await Promise.all(tasks.map(({ id }) => stepsOf(api, id)));
  if (output.json) {
    return output.thing({ ...found, tasks: tasks.map((task, at) => ({ ...task, steps: steps[at] })), requests });
  }
  const show = (title: string, rows: readonly unknown[], columns: Columns) => {
    if (rows.length === 0) return;
    terminal.out(`${title}\n`);
    output.rows(rows, columns);
    terminal.out('\n');
  };
  const things = [
    ...found.resources,
    ...found.former.map((one) => ({ ...one, state: 'gone' })),
    ...found.customers.map(({ id, company, status }) => ({
      kind: 'account',
      id: String(id),
      name: company,
      client_id: id,
      state: status,
    })),
    ...found.users.map(({ id, email, client_ids: [client_id] }) => ({
      kind: 'user',
      id: String(id),
      name: email,
      client_id,
    })),
  ];
  show('Found', things, THINGS);
  const period = { ADDRESS: 'address', KIND: 'kind', ID: 'id', CLIENT: 'client_id', FROM: 'from', TO: 'to' };
  show('Who had the address', found.addresses, period);
  show('Requests', requests, {
    TIME: 'time',
    CLIENT: 'client_id',
    WHO: 'actor.email',
    OPERATION: 'operation',
    STATUS: 'status',
    OUTCOME: 'outcome',
    REQUEST: 'request_id',
    TASK: 'task_id',
  });
  for (const [at, task] of tasks.entries()) {
    const ended = task.finished_on === null ? 'not ended' : `ended ${task.finished_on}`;
    const error = task.error === null ? '' : `: ${task.error}`;
    const title = `Task ${task.id} of account ${task.client_id}: ${task.task_type}, ${task.state}, begun ${task.created_on}, ${ended}`;
    output.line(task, `${title}${error}`);
    const rows = steps[at] ?? (task.waits_for ? [task.waits_for] : []);
    show('', rows, { KIND: 'kind', ID: 'id', STATE: 'state', FAILURES: 'failures', DOING: 'doing' });
  }
  if (things.length + found.addresses.length + tasks.length + requests.length === 0) {
    output.note('Nothing was found in the accounts that you manage.');
  } else if (times.from !== undefined && tasks.length + requests.length === 0) {
    output.note(`Nothing was done with it from ${times.from} to ${times.to}; --within looks further.`);
  }
  if (!found.complete) output.note('There is more that begins so: give more of the name.');
}

interface Times {
  from?: string;
  to?: string;
}

function timesIn({ at, within }: Values): Times {
  if (!(at instanceof Date)) return {};
  const reach = Number(within ?? MINUTES) * MINUTE_MS;
  return {
    from: new Date(at.getTime() - reach).toISOString(),
    to: new Date(at.getTime() + reach).toISOString(),
  };
}

async function tasksOf(api: Api, found: Found, times: Times): Promise<Task[]> {
  const things = thingsIn(found).map(({ id }) => id);
  const accounts = accountsIn(found);
  const list = async (filter: Values) => {
    const parameters = { ...filter, ...times, limit: MOST.tasks };
    return ((await api.call('listManagedTasks', { parameters })) as { results: Task[] }).results;
  };
  const tasks = [
    ...found.tasks,
    ...(things.length > 0 ? await list({ resource_id: things }) : []),
    // An account has many tasks: without a time nobody means them all.
    ...(accounts.length > 0 && times.from !== undefined ? await list({ client_id: accounts }) : []),
  ];
  return [...new Map(tasks.map((task) => [task.id, task])).values()]
    .toSorted((one, other) => (one.created_on < other.created_on ? 1 : -1))
    .slice(0, MOST.tasks);
}

/** A project has tasks of everything in it, and its ID is a number that other things have too. */
const thingsIn = ({ resources, former, addresses }: Found): { kind: string | null; id: string }[] =>
  [...new Map([...resources, ...former, ...addresses].map((thing) => [thing.id, thing])).values()]
    .filter(({ kind, id }) => kind !== 'project' && id !== '')
    .slice(0, MOST.things);

const accountsIn = ({ customers, users }: Found): number[] =>
  [...new Set([...customers.map(({ id }) => id), ...users.flatMap(({ client_ids }) => client_ids)])].slice(
    0,
    MOST.accounts,
  );

interface Logged {
  id: number;
  time: string;
}

/** Of the tasks, of what was found, and those of its account that were refused: they began nothing. */
async function requestsOf(
  api: Api,
  { found, tasks, times }: { found: Found; tasks: readonly Task[]; times: Times },
): Promise<Logged[]> {
  const list = async (filter: Values) => {
    const answer = await unlessRefused(api, 'listAuditRecords', { ...filter, limit: MOST.records });
    return (answer as { records: Logged[] } | undefined)?.records ?? [];
  };
  const ids = [...tasks.map(({ request_id }) => request_id), ...found.requests.map(({ request_id }) => request_id)];
  const request_id = [...new Set(ids.flatMap((id) => id ?? []))].slice(0, MOST.records);
  const subject = thingsIn(found).map(({ kind, id }) => `${kind}/${id}`);
  const around = times.from === undefined ? [] : accountsOf(found);
  const lists = [
    request_id.length > 0 ? await list({ request_id }) : [],
    subject.length > 0 ? await list({ subject, ...times }) : [],
    ...(await Promise.all(around.map((client_id) => list({ client_id, outcome: ['refused', 'failed'], ...times })))),
  ];
  return [...new Map(lists.flat().map((record) => [record.id, record])).values()]
    .toSorted((one, other) => (one.time < other.time ? 1 : -1))
    .slice(0, MOST.records);
}

const accountsOf = (found: Found): number[] =>
  [
    ...new Set([
      ...accountsIn(found),
      ...[...found.resources, ...found.former].flatMap(({ client_id }) => client_id ?? []),
    ]),
  ].slice(0, MOST.accounts);

/** The steps of other accounts' tasks are for the platform administrator. */
async function stepsOf(api: Api, task_id: string): Promise<object[] | undefined> {
  const answer = await unlessRefused(api, 'listTaskSteps', { task_id });
  return (answer as { steps: object[] } | undefined)?.steps;
}

async function unlessRefused(api: Api, id: OperationId, parameters: Values): Promise<unknown> {
  try {
    return await api.call(id, { parameters });
  } catch (error) {
    if (error instanceof RefusedError) return undefined;
    throw error;
  }
}

const DAY_MS = 86_400_000;

/** Returns the time that a text stands for. @throws UsageError */
export function momentOf(text: string, now = new Date()): Date {
  const [, hours, minutes, seconds = '0'] = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text) ?? [];
  if (hours !== undefined) {
    const moment = new Date(now);
    moment.setHours(Number(hours), Number(minutes), Number(seconds), 0);
    return moment > now ? new Date(moment.getTime() - DAY_MS) : moment;
  }
  const moment = new Date(text);
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) || Number.isNaN(moment.getTime())) {
    throw new UsageError(`--at must be a time such as 14:05 or 2026-05-23T14:05:00Z, not ${text}`);
  }
  return moment;
}
