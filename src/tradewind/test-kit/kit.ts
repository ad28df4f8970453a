import type { Makers } from '../../backends/maker.ts';
import type { Clock } from '../../lib/time.ts';
import { type Calls, createCalls } from './calls.ts';
import { faultyMakers } from './faulty-tasks.ts';
import type { PartialReset } from './partial-reset.ts';
import { createRules, type Rules } from './rules.ts';
import type { Snapshots } from './snapshots.ts';
import type { WorkInProgress } from './work.ts';

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

/** What the routes change. */
export interface TestKitParts {
  kit: TestKit;
  snapshots: Snapshots;
  partial: PartialReset;
  work: WorkInProgress;
  /** Of tasks that rules can let fail, hold or delay. */
  taskTypes: ReadonlySet<string>;
  /** Of simulated work, by the settings. */
  normalSpeed: number;
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
