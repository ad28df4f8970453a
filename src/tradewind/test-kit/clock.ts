import type { Clock } from '../../lib/clock.ts';

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
