import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, HttpClient } from '../../support/http-client.ts';

const BASE = '/gcore';
const POLL_EVERY_MS = 50;
/** Real infrastructure may take long on a busy machine. */
const POLL_FOR_MS = 60_000;

type Query = Record<string, string | number | boolean>;

/** What each family of the walk receives. */
export interface Walk {
  client: Client;
  /** Returns the client of somebody else. */
  as(token: string, word?: 'APIKey' | 'Bearer'): Client;
  /** Returns `/cloud/v1/networks` with the project and region of the walk. */
  place(area: string): string;
  /** What the infrastructure of the region doesn't have. */
  lacks?: readonly ('DDoS protection' | 'downloads' | 'load' | 'serial consoles')[];
}

/** Calls and waits as older clients do. Error answers are thrown as StatusError. */
export interface Client {
  get<T = object>(path: string, query?: Query): Promise<T>;
  post<T = object>(path: string, body?: unknown): Promise<T>;
  patch<T = object>(path: string, body: unknown): Promise<T>;
  put<T = object>(path: string, body: unknown): Promise<T>;
  delete<T = object>(path: string, query?: Query): Promise<T>;
  /** Makes a call that must answer 204 without a body. */
  silent(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, query?: Query): Promise<void>;
  /** Makes a call that must answer 201 without a body. */
  created(path: string, body: unknown): Promise<void>;
  /** Returns the results of a list. */
  list<Item = object>(path: string, query?: Query): Promise<Item[]>;

  /** Follows the first of the tasks until it is FINISHED. */
  poll(started: TaskIds): Promise<Task>;
  /** Makes something and reads it; `of` is its kind in `created_resources`. */
  createAndPoll<T = Resource>(path: string, body: unknown, of: string, at?: string): Promise<T>;
}

/**
 * The parts of the answers that the walk reads by name; every answer is also compared with the whole
 * document.
 */
export interface TaskIds {
  tasks: string[];
}

interface Task {
  id: string;
  state: 'NEW' | 'RUNNING' | 'FINISHED' | 'ERROR';
  error: string | null;
  created_resources: Record<string, string[]> | null;
}

/** Fields of nearly every resource. */
export interface Resource {
  id: string;
  name: string;
}

class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: number;

  constructor(call: string, { status, text }: Answer) {
    super(`${call} answered ${status}: ${text}`);
    this.status = status;
  }
}

/** What an error answer is thrown as, for `rejects.toMatchObject`. */
export const refusal = (status: number): Partial<StatusError> => ({ name: 'StatusError', status });

export const tags = (given: Record<string, string>) =>
  Object.entries(given).map(([key, value]) => ({ key, value, read_only: false }));

export function createClient(request: HttpClient['request'], authorization: string): Client {
  async function send(method: string, path: string, query: Query = {}, body?: unknown) {
    const pairs = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
    const answer = await request(method, BASE + path + search, { body, headers: { authorization } });
    if (answer.status >= 300) throw new StatusError(`${method} ${path}`, answer);
    return answer;
  }

  async function call<T>(method: string, path: string, query?: Query, body?: unknown) {
    const { body: read, text } = await send(method, path, query, body);
    if (read === undefined) throw new Error(`${method} ${path} answered no JSON: ${text}`);
    return read as T;
  }

  async function poll({ tasks }: TaskIds): Promise<Task> {
    const [id] = tasks;
    if (id === undefined) throw new Error('The answer names no task to wait for');
    for (const deadline = Date.now() + POLL_FOR_MS; ; await sleep(POLL_EVERY_MS)) {
      const task = await call<Task>('GET', `/cloud/v1/tasks/${id}`);
      if (task.state === 'FINISHED') return task;
      if (task.state === 'ERROR') throw new Error(`Task ${id} failed: ${task.error ?? 'it says no more'}`);
      if (Date.now() > deadline) throw new Error(`Task ${id} is still ${task.state}`);
    }
  }

  return {
    get: (path, query) => call('GET', path, query),
    post: (path, body) => call('POST', path, {}, body),
    patch: (path, body) => call('PATCH', path, {}, body),
    put: (path, body) => call('PUT', path, {}, body),
    delete: (path, query) => call('DELETE', path, query),
    async silent(method, path, body, query) {
      const { status, text } = await send(method, path, query, body);
      if (status !== 204 || text !== '') throw new Error(`${method} ${path} answered ${status}: ${text}`);
    },
    async created(path, body) {
      const { status, text } = await send('POST', path, {}, body);
      if (status !== 201 || text !== '') throw new Error(`POST ${path} answered ${status}: ${text}`);
    },
    list: async <Item>(path: string, query?: Query) => (await call<{ results: Item[] }>('GET', path, query)).results,
    poll,
    async createAndPoll<T>(path: string, body: unknown, of: string, at = path) {
      const { created_resources: made, id } = await poll(await call<TaskIds>('POST', path, {}, body));
      const [first] = made?.[of] ?? [];
      if (first === undefined) throw new Error(`Task ${id} names nothing made in ${of}`);
      return call<T>('GET', `${at}/${first}`);
    },
  };
}
