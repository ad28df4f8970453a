import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { createFaults, type FaultRule, type Faults } from '../../../simulation/faults.ts';
import { createFaultyBackend, simulated } from '../../../simulation/maker.ts';
import type { BackendMaker } from '../../../src/backends/maker.ts';
import type { Sql } from '../../../src/db/database.ts';
import type { HttpClient } from '../../support/http-client.ts';
import { tasksIn } from '../../support/possessions.ts';
import { startService } from '../../support/service.ts';
import { brokenInvariants } from '../concurrency/invariants.ts';
import { createMakers, ended, type Prepared } from './makers.ts';
import { OPERATIONS } from './operations.ts';

/** What comes of a task that meets the fault. */
type End = 'finished' | 'failed';

export const AT_EACH_CALL = {
  'is refused': { rule: (call) => ({ do: 'refuse', call }), end: 'failed' },
  'finds the infrastructure away': {
    rule: (call) => ({ do: 'unavailable', call, times: 2 }),
    end: 'finished',
  },
  'gets no answer though the work was done': {
    rule: (call) => ({ do: 'lose-answer', call }),
    end: 'finished',
  },
  'stays as it is for a while': { rule: (call) => ({ do: 'stay', call, times: 3 }), end: 'finished' },
  'stays as it is until its deadline': {
    rule: (call) => ({ do: 'stay', call, times: 1_000_000 }),
    end: 'failed',
  },
} satisfies Record<string, { rule: (call: number) => FaultRule; end: End }>;
/** So fast that few calls are needed, but not so fast that one is enough. */
const SPEED = '100';

export const names = Object.keys(OPERATIONS);
export type Often = 'once' | 'twice' | 'twice at once';

export type Trial = Awaited<ReturnType<typeof openTrial>>;

/** A service of its own, whose infrastructure fails as each run says. */
export async function openTrial() {
  const state = {
    faults: undefined as Faults | undefined,
    hits: 0,
    /** How many calls were made about each thing, while they are counted. */
    counted: undefined as Map<string, number> | undefined,
    often: 'once' as Often,
    sql: undefined as Sql | undefined,
  };
  const faults: Faults = {
    get any() {
      return state.faults !== undefined || state.counted !== undefined;
    },
    next(call) {
      const fault = state.faults?.next(call);
      if (fault) state.hits += 1;
      if (state.counted) count(state.counted, `${call.kind}:${call.id}`);
      return fault;
    },
  };
  const faulty: BackendMaker = {
    ...simulated,
    make(_, { sql, secrets, simulationSpeed: speed }) {
      state.sql = sql;
      const backend = createFaultyBackend({ sql, secrets, speed, faults });
      const converge: typeof backend.converge = async (ref, spec, call) => {
        const again = () => backend.converge(ref, spec, call);
        if (state.often === 'once') return again();
        state.hits += 1;
        const first = again();
        if (state.often === 'twice') await first;
        const [answer] = await Promise.all([again(), first]);
        return answer;
      };
      return { ...backend, converge };
    },
  };
  const service = await startService(
    { TRADEWIND_SIMULATION_SPEED: SPEED, TRADEWIND_LOG_LEVEL: 'silent' },
    { makers: { simulated: faulty } },
  );

  const inOrder = (hurry: () => Promise<unknown>) =>
    vi.waitFor(
      async () => {
        await hurry();
        expect(await brokenInvariants(service.pool)).toEqual([]);
      },
      { timeout: 30_000, interval: 250 },
    );

  /** Prepares operations at the same time, each on things of its own. */
  async function prepare(some: readonly string[]) {
    const tenant = await service.otherTenant();
    const http = patient(tenant.http);
    const makers = createMakers(http, tenant.projectId);
    // Whatever became of the run before.
    Object.assign(state, { faults: undefined, counted: undefined, often: 'once' });
    const prepared = await Promise.all(
      some.map(async (name) => ({
        name,
        act: await named(name, OPERATIONS[name]?.(makers) as Promise<Prepared>),
      })),
    );
    // Not all of it belongs to a task.
    await inOrder(async () => {});
    return { http, prepared };
  }

  /** Runs all operations, one after the other. Answers how many calls each makes about one thing, at most. */
  async function countCalls(): Promise<Map<string, number>> {
    const { http, prepared } = await prepare(names);
    const most = new Map<string, number>();
    for (const { name, act } of prepared) {
      const counted = new Map<string, number>();
      state.counted = counted;
      expect(await wrongOf(http, name, act, 'finished')).toEqual([]);
      // Not all of it belongs to a task.
      await vi.waitFor(async () => expect((await service.pool.query(UNSETTLED)).rowCount).toBe(0), {
        timeout: 30_000,
        interval: 20,
      });
      most.set(name, Math.max(0, ...counted.values()));
    }
    state.counted = undefined;
    await inOrder(async () => {});
    return most;
  }

  /** Runs operations at the same time, by default all. Answers how many calls went wrong. */
  async function run(
    rules: FaultRule[],
    end: End,
    { often = 'once', some = names }: { often?: Often; some?: readonly string[] } = {},
  ): Promise<number> {
    const { http, prepared } = await prepare(some);
    Object.assign(state, {
      faults: rules.length > 0 ? createFaults(rules) : undefined,
      hits: 0,
      often,
    });
    // Who stays as it is has met the fault, and its time is over.
    const impatience = setInterval(() => end === 'failed' && void service.pool.query(TIME_IS_OVER), 300);
    const wrong = await Promise.all(prepared.map(({ name, act }) => wrongOf(http, name, act, end))).finally(() => {
      clearInterval(impatience);
    });
    const met = state.hits;
    Object.assign(state, { faults: undefined, often: 'once' });
    expect(wrong.flat()).toEqual([]);
    await inOrder(() =>
      service.pool.query('update wants set due_at = now() where due_at > now() and worker_id is null'),
    );
    return met;
  }

  return { run, countCalls, sql: () => state.sql as Sql, stop: () => service.stop() };
}

/** Returns the client as one that comes again while too many requests wait: so many operations begin at once. */
function patient(http: HttpClient): HttpClient {
  const request: HttpClient['request'] = async (...call) => {
    for (let tries = 1; ; tries++) {
      const answer = await http.request(...call);
      if (answer.status !== 503 || tries === 20) return answer;
      await sleep(1_000);
    }
  };
  return {
    ...http,
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    put: (path, body) => request('PUT', path, { body }),
    delete: (path) => request('DELETE', path),
  };
}

function count(calls: Map<string, number>, key: string): void {
  calls.set(key, (calls.get(key) ?? 0) + 1);
}

/** Adds the operation's name to an error of its preparation. */
async function named<T>(name: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw new Error(`${name} could not be prepared`, { cause: error });
  });
}

/**
 * Ends the time of tasks that wait for a thing that stays as it is, or for what comes after it: a cluster
 * needs a group that belongs to no task.
 */
const TIME_IS_OVER = `
  with stuck as (
    select kind, id, kind || ':' || id as key from wants where doing = 'staying as it is'
  ), late as (
    select kind, id from stuck union
    select wants.kind, wants.id from wants join stuck on stuck.key = any(after)
  ), overdue as materialized (
    select id from tasks where state in ('NEW', 'RUNNING') and exists (
      select from task_wants join late on late.kind = task_wants.kind and late.id = want_id where task_id = tasks.id)
    for no key update skip locked
  )
  update tasks set deadline_at = now() from overdue where tasks.id = overdue.id`;
const UNSETTLED = 'select from wants where settled_generation is distinct from generation limit 1';
const FAILED = /because of a configured fault|deadline exceeded/;

/** Calls the operation, and returns what is wrong with how it ended. */
async function wrongOf(http: HttpClient, name: string, act: Prepared, end: End): Promise<string[]> {
  const { status, body, text } = await act();
  // Some operations wait for their task themselves, and answer its result.
  if (end === 'failed' && status === 409 && FAILED.test(text)) return [];
  if (![200, 201, 204].includes(status)) return [`${name} was answered ${status}: ${text}`];
  const ends = await Promise.all(tasksIn(body).map((task) => ended(http, task)));
  return ends
    .filter(({ state: reached, error }) => reached !== 'FINISHED' && !(end === 'failed' && FAILED.test(error)))
    .map(({ state: reached, error }) => `${name} ended ${reached}: ${error}`);
}
