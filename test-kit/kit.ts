import { type Kysely, sql } from 'kysely';
import { type Backend, Refused } from '../src/backends/contract/backend.ts';
import type { BackendMaker, MadeBackend, Makers } from '../src/backends/maker.ts';
import { keyOf } from '../src/convergence/wants.ts';
import type { Tables } from '../src/db/tables.ts';
import type { Clock } from '../src/lib/time.ts';
import { type Calls, createCalls } from './calls.ts';
import { createRules, type Rules } from './rules.ts';

/** How soon a task that is held looks whether it still is. */
const HOLD_MS = 50;

/** Makes backends that follow the rules for tasks. `speed` goes before the setting, and may change. */
export function faultyMakers(
  makers: Makers,
  { rules, calls, speed }: { rules: Rules; calls: Calls; speed: () => number | undefined },
): Makers {
  const faulty = (maker: BackendMaker): BackendMaker => ({
    ...maker,
    make(given, host) {
      const paced = {
        ...host,
        get simulationSpeed() {
          return speed() ?? host.simulationSpeed;
        },
      };
      return withRules(maker.make(given, paced), { rules, calls, db: host.sql });
    },
  });
  return Object.fromEntries(Object.entries(makers).map(([kind, maker]) => [kind, faulty(maker)]));
}

function withRules(
  backend: MadeBackend,
  { rules, calls, db }: { rules: Rules; calls: Calls; db: Kysely<Tables> },
): MadeBackend {
  const converge: Backend['converge'] = async (ref, spec, call) => {
    const applied = rules.aboutTasks ? await appliedTo(ref, spec) : undefined;
    if (!applied) return backend.converge(ref, spec, call);
    const { effect, since } = applied;
    if ('fail' in effect) throw new Refused(effect.fail);
    if ('hold' in effect) return waits('held by a rule of the test kit', HOLD_MS);
    if ('delay_ms' in effect) {
      const left = since + effect.delay_ms - performance.now();
      if (left > 0) return waits('delayed by a rule of the test kit', left);
    }
    return backend.converge(ref, spec, call);
  };

  return {
    ...backend,
    async converge(ref, spec, call) {
      const result = await calls.during(keyOf(ref), () => converge(ref, spec, call));
      return result ?? waits('taken away by a reset', HOLD_MS);
    },
  };

  async function appliedTo({ kind, id }: { kind: string; id: string }, spec: object | null) {
    const tasks = await waitingFor(db, kind, id);
    const [first] = tasks;
    // Nobody waits for what puts itself right.
    if (!first) return undefined;
    return rules.forTask({
      key: `${first.id} ${kind}:${id}`,
      tasks: tasks.map(({ task_type }) => task_type),
      clientIds: tasks.map(({ client_id }) => client_id),
      kind,
      names: [nameIn(spec), id],
    });
  }
}

function nameIn(spec: object | null): string | undefined {
  return spec && 'name' in spec && typeof spec.name === 'string' ? spec.name : undefined;
}

function waits(doing: string, ms: number) {
  return { state: 'progressing', doing, askAgainMs: Math.ceil(ms) } as const;
}

async function waitingFor(db: Kysely<Tables>, kind: string, id: string) {
  const { rows } = await sql<{ id: string; task_type: string; client_id: number }>`
    select tasks.id, task_type, tasks.client_id from task_wants join tasks on tasks.id = task_id
    where kind = ${kind} and want_id = ${id} and state in ('NEW', 'RUNNING') order by tasks.created_on`.execute(db);
  return rows;
}

/** A clock that tests set, stop and move on. */
export interface TestClock extends Clock {
  readonly running: boolean;
  /** Goes on from there. */
  set(to: Date): void;
  /** `ms` may be negative. */
  advance(ms: number): void;
  stop(): void;
  start(): void;
  /** Shows again what it showed at the start: the real time, or where it stood still. */
  reset(): void;
}

export function createTestClock(real: Clock, standing?: Date): TestClock {
  let offset = 0;
  let stoppedAt = standing?.getTime();
  const time = () => stoppedAt ?? real.now().getTime() + offset;
  return {
    now: () => new Date(time()),
    get running() {
      return stoppedAt === undefined;
    },
    set(to) {
      if (stoppedAt === undefined) offset = to.getTime() - real.now().getTime();
      else stoppedAt = to.getTime();
    },
    advance(ms) {
      if (stoppedAt === undefined) offset += ms;
      else stoppedAt += ms;
    },
    stop() {
      stoppedAt = time();
    },
    start() {
      if (stoppedAt === undefined) return;
      offset = stoppedAt - real.now().getTime();
      stoppedAt = undefined;
    },
    reset() {
      offset = 0;
      stoppedAt = standing?.getTime();
    },
  };
}

/** What tests change in a running process. There is one, and it has to exist before everything else. */
export interface TestKit {
  clock: TestClock;
  rules: Rules;
  calls: Calls;
  /** Of simulated work; undefined for that of the settings. */
  speed: number | undefined;
  /** Returns backends that follow the rules and the speed. */
  makers(makers: Makers): Makers;
}

/** The clock stands still at `standing`, if given. */
export function createTestKit(real: Clock, standing?: Date): TestKit {
  const rules = createRules();
  const calls = createCalls();
  const kit: TestKit = {
    clock: createTestClock(real, standing),
    rules,
    calls,
    speed: undefined,
    makers: (makers) => faultyMakers(makers, { rules, calls, speed: () => kit.speed }),
  };
  return kit;
}
