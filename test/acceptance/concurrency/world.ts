import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Answer, HttpClient } from '../../support/http-client.ts';
import { tasksIn } from '../../support/possessions.ts';
import { createLedger, type Ledger, type Span } from './ledger.ts';
import type { Random } from './random.ts';

export const KINDS = [
  'groups',
  'rules',
  'networks',
  'subnets',
  'routers',
  'volumes',
  'snapshots',
  'instances',
  'ports',
  'reserved',
  'floating',
  'balancers',
  'listeners',
  'lbPools',
  'keys',
  'shares',
  'secrets',
  'placements',
  'clusters',
  'projects',
  'aiTasks',
] as const;
export type Kind = (typeof KINDS)[number];

/** A project in a region, with what its clients know is in it: they share this, so that they collide. */
export interface Scope {
  account: string;
  project: number;
  region: number;
  /** `/1/1` */
  place: string;
  /** By id. Deleted things stay a while, as in the memory of a client. */
  known: Record<Kind, Map<string, Record<string, string>>>;
}

export interface Account {
  name: string;
  clientId: number;
  http: HttpClient;
  scopes: Scope[];
}

export interface Statistics {
  /** Number of answers by `<what> <status>`. */
  answers: Map<string, number>;
  /** The texts of 409 answers, shortened. */
  conflicts: Map<string, number>;
  /** The texts of 400 answers, shortened, with their numbers. */
  invalid: Map<string, number>;
  faults: string[];
}

/** What regions are on that are no simulations. */
export interface Infrastructure {
  /** Returns more settings of who serves it. Its catalogue begins with the one in the folder. */
  settings(catalog: string): Promise<Record<string, string>>;
  /** How long its slowest task may take. */
  taskWithinMs: number;
  /** Errors of tasks for which it has its reasons. */
  refuses: RegExp;
  assertAsWanted(pool: pg.Pool): Promise<void>;
}

export interface World extends Pick<Infrastructure, 'refuses' | 'taskWithinMs'> {
  ledger: Ledger;
  statistics: Statistics;
  /** Accepted tasks, with a client that may read them. */
  tasks: Map<string, { http: HttpClient; ended: boolean }>;
}

/** Tasks on a simulation take two minutes at most, and none of them fails. */
const SIMULATION = { taskWithinMs: 120_000, refuses: /(?!)/ };

export function createWorld({ taskWithinMs, refuses }: Pick<World, 'refuses' | 'taskWithinMs'> = SIMULATION): World {
  return {
    taskWithinMs,
    refuses,
    ledger: createLedger(),
    statistics: { answers: new Map(), conflicts: new Map(), invalid: new Map(), faults: [] },
    tasks: new Map(),
  };
}

export function createScope(account: string, project: number, region: number): Scope {
  const known = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as Scope['known'];
  return { account, project, region, place: `/${project}/${region}`, known };
}

export interface Sent extends Answer {
  method: string;
  span: Span;
  ok: boolean;
}

/** One of many that work at the same time. */
export interface Worker {
  /** Marks what this worker writes. */
  mark: string;
  world: World;
  account: Account;
  random: Random;
  scope(): Scope;
  /** Records an acknowledged creation, and the thing with which it is deleted. */
  made(path: string, parent?: string): void;
  /** Sends a request; `what` names the action in the statistics. */
  send(what: string, method: string, path: string, body?: object): Promise<Sent>;
  /** Waits until the task in an answer has ended, now or later, and calls `then` if it is FINISHED. */
  follow(answer: Sent, then: (task: Answer['body']) => void): Promise<void>;
}

export function createWorker(world: World, account: Account, random: Random, mark: string): Worker {
  const { statistics } = world;
  const prefix = random.chance(0.5) ? '' : '/gcore';

  async function ended(id: string): Promise<Answer['body']> {
    const deadline = Date.now() + world.taskWithinMs;
    for (;;) {
      // Asked again and again by all clients, the service would have less time for what collides.
      const headers = { prefer: 'wait=5' };
      const { status, body, text } = await account.http.request('GET', `/v1/tasks/${id}`, { headers });
      if (status !== 200) throw new Error(`Task ${id} answered ${status}: ${text}`);
      if (['FINISHED', 'ERROR'].includes(body.state)) return body;
      if (Date.now() > deadline) throw new Error(`Task ${id} (${body.task_type}) is still ${body.state}`);
      await sleep(random.whole(50, 250));
    }
  }

  return {
    mark,
    world,
    account,
    random,
    scope: () => (random.chance(0.5) ? account.scopes[0] : random.pick(account.scopes)) as Scope,
    made: (path, parent) => world.ledger.made(path, account.name, parent),
    async send(what, method, path, body) {
      const sent = performance.now();
      const answer = await account.http.request(method, prefix + path, { body });
      const span = { sent, answered: performance.now() };
      add(statistics.answers, `${what} ${answer.status}`);
      if (answer.status >= 500) statistics.faults.push(`${method} ${path} ${answer.status}: ${answer.text}`);
      if (answer.status === 401) statistics.faults.push(`${method} ${path}: ${answer.text}`);
      if (answer.status === 400) add(statistics.invalid, `${what}: ${shortened(answer.text)}`);
      if (answer.status === 409) {
        const text: string = answer.body?.message ?? answer.text;
        add(statistics.conflicts, text.startsWith('Another request') ? `${what}: ${text}` : shortened(text));
      }
      return { ...answer, method, span, ok: answer.status < 300 };
    },
    async follow(answer, then) {
      const [id] = tasksIn(answer.body);
      if (id === undefined) return;
      const entry = { http: account.http, ended: false };
      // A deletion that is asked for twice waits once.
      const mayWait = answer.method === 'DELETE';
      if (world.tasks.has(id) && mayWait) return;
      if (world.tasks.has(id)) statistics.faults.push(`Task ${id} was answered twice`);
      world.tasks.set(id, entry);
      const end = ended(id).then(
        (task) => {
          entry.ended = true;
          if (task.state === 'FINISHED') then(task);
          else if (world.refuses.test(task.error)) add(statistics.conflicts, shortened(task.error));
          else if (mayWait && task.data.waits_for && !task.error.includes('internal error')) return;
          else statistics.faults.push(`Task ${id} (${task.task_type}) ended in ERROR: ${task.error}`);
        },
        (error: Error) => {
          entry.ended = true;
          statistics.faults.push(error.message);
        },
      );
      if (random.chance(0.6)) await end;
    },
  };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Makes texts equal that only differ in ids, names and numbers. */
function shortened(text: string): string {
  return text
    .replaceAll(/"request_id":"[^"]*"/g, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replaceAll(/\d+(\.\d+)*/g, '#')
    .slice(0, 160);
}
