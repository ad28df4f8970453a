import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient } from '../../support/http-client.ts';
import type { Query } from './query.ts';
import type { Page, Task, TaskIds } from './shapes.ts';
import { createTransport } from './transport.ts';

const BASE = '/gcore';
const POLL_EVERY_MS = 50;
const POLL_FOR_MS = 20_000;

type Headers = Record<string, string>;

/** Calls, waits and pages the way official clients do. A refusal is thrown as a StatusError. */
export interface Client {
  get<T = object>(path: string, query?: Query): Promise<T>;
  post<T = object>(path: string, body?: unknown, headers?: Headers): Promise<T>;
  patch<T = object>(path: string, body: unknown, headers?: Headers): Promise<T>;
  put<T = object>(path: string, body: unknown): Promise<T>;
  delete<T = object>(path: string, query?: Query): Promise<T>;
  /** A call that answers 204 and nothing else. */
  silent(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, query?: Query): Promise<void>;

  /** Follows the first of the tasks until it is FINISHED. */
  poll(started: TaskIds): Promise<Task>;
  createAndPoll<T = object>(path: string, body: unknown, kind: Kind): Promise<T>;
  postAndPoll(path: string, body?: unknown): Promise<Task>;
  /** An update that changes nothing starts no task, and is done. */
  patchAndPoll(path: string, body: unknown): Promise<Task | undefined>;
  deleteAndPoll(path: string, query?: Query): Promise<Task>;

  /** Every item of a list of the cloud or of the account, page by page until `count`. */
  all<Item = object>(path: string, query?: Query): Promise<Item[]>;
  /** Every item of a list that ends with an empty page. */
  allPages<Item = object>(path: string, query?: Query): Promise<Item[]>;

  /** Statuses that made it repeat a call. */
  repeated: number[];
}

/** How a helper finds what a task made. */
export interface Kind {
  /** The list in `created_resources`. */
  of: string;
  /** Whether it wants one task and one made thing, and nothing beside. */
  only?: boolean;
  /** Where to read what was made; beside the address that it was made at, if left out. */
  at?: (id: string) => string;
}

export function createClient(
  request: HttpClient['request'],
  { authorization, retries = 2 }: { authorization: string; retries?: number },
): Client {
  const transport = createTransport(request, { authorization, retries });

  async function call<T>(
    method: string,
    path: string,
    rest: { query?: Query | undefined; body?: unknown; headers?: Headers } = {},
  ) {
    const answer = await transport.send({ method, path: BASE + path, ...rest });
    if (answer.body === undefined) throw new Error(`${method} ${path} answered no JSON: ${answer.text}`);
    return answer.body as T;
  }

  async function poll({ tasks }: TaskIds): Promise<Task> {
    const [id] = tasks;
    if (id === undefined) throw new Error('The answer names no task to wait for');
    for (const deadline = Date.now() + POLL_FOR_MS; ; await sleep(POLL_EVERY_MS)) {
      const task = await call<Task>('GET', `/cloud/v1/tasks/${id}`);
      if (task.state === 'FINISHED') return task;
      if (task.state === 'ERROR')
        throw new Error(`Task ${task.task_type} ${id} failed: ${task.error ?? 'it says no more'}`);
      if (Date.now() > deadline) throw new Error(`Task ${task.task_type} ${id} is still ${task.state}`);
    }
  }

  const client: Client = {
    get: (path, query) => call('GET', path, { query }),
    post: (path, body, headers = {}) => call('POST', path, { body, headers }),
    patch: (path, body, headers = {}) => call('PATCH', path, { body, headers }),
    put: (path, body) => call('PUT', path, { body }),
    delete: (path, query) => call('DELETE', path, { query }),
    async silent(method, path, body, query) {
      const { status, text } = await transport.send({
        method,
        path: BASE + path,
        query,
        body,
        accept: '*/*',
      });
      if (status !== 204 || text !== '') throw new Error(`${method} ${path} answered ${status}: ${text}`);
    },

    poll,
    async createAndPoll<T>(
      path: string,
      body: unknown,
      { of, only = false, at = (id) => `${path}/${id}` }: Kind,
    ) {
      const started = await call<TaskIds>('POST', path, { body });
      const { created_resources: created, id } = await poll(
        only ? { tasks: [theOnly(started.tasks)] } : started,
      );
      const made = created?.[of] ?? [];
      const [first] = only ? [theOnly(made)] : made;
      if (first === undefined) throw new Error(`Task ${id} names nothing made in ${of}`);
      return call<T>('GET', at(String(first)));
    },
    async postAndPoll(path, body) {
      return poll(await call<TaskIds>('POST', path, { body }));
    },
    async patchAndPoll(path, body) {
      const started = await call<TaskIds>('PATCH', path, { body });
      return started.tasks.length === 0 ? undefined : poll(started);
    },
    async deleteAndPoll(path, query) {
      return poll(await call<TaskIds>('DELETE', path, { query }));
    },

    async all<Item>(path: string, query: Query = {}) {
      const found: Item[] = [];
      for (;;) {
        const offset = found.length === 0 ? {} : { offset: found.length };
        const { count, results } = await call<Page<Item>>('GET', path, { query: { ...query, ...offset } });
        found.push(...results);
        if (found.length >= count || results.length === 0) return found;
      }
    },
    async allPages<Item>(path: string, query: Query = {}) {
      const found: Item[] = [];
      for (let page = 1; ; page++) {
        const { results } = await call<Page<Item>>('GET', path, { query: { ...query, page } });
        if (results.length === 0) return found;
        found.push(...results);
      }
    },

    repeated: transport.repeated,
  };
  return client;
}

function theOnly<Item>(items: Item[]): Item {
  const [only] = items;
  if (only === undefined || items.length !== 1)
    throw new Error(`There should be exactly one, there are ${items.length}`);
  return only;
}
