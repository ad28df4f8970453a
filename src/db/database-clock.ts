import type pg from 'pg';
import { OperatorError } from '../lib/errors.ts';
import type { Clock } from '../lib/time.ts';

/** By how much the clock of a machine may differ. Machines whose time is kept by NTP differ by milliseconds. */
const MOST_MS = 5_000;

/**
 * The time of the database, which all processes share: this process's monotonic clock, corrected by what the database says.
 * While a machine sleeps, that clock stands still. Until the next comparison, `now` is behind by as long and `problem` says
 * that this machine's clock is ahead; whether it was set or the machine slept, only the database knows.
 */
export interface DatabaseClock extends Clock {
  /** Compares it, and this machine's clock, with the database's. */
  compare(pool: Pick<pg.Pool, 'query'>): Promise<void>;
  /** By how much this machine's clock is ahead of the database's, as far as is known; negative if it is behind. */
  aheadMs(): number;
  /** What is wrong with this machine's clock. */
  problem(): string | undefined;
}

export function createDatabaseClock(): DatabaseClock {
  let offset = performance.timeOrigin;
  // Not as of the last comparison: the clock may have been set since then.
  const aheadMs = () => Date.now() - performance.now() - offset;
  return {
    now: () => new Date(performance.now() + offset),
    async compare(pool) {
      const asked = performance.now();
      const { rows } = await pool.query<{ now: number }>(
        'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
      );
      const answered = performance.now();
      // The database read its clock in between, so that a slow answer proves little, but never something wrong.
      const now = rows[0]?.now ?? Number.NaN;
      offset = Math.min(Math.max(offset, now - answered), now - asked);
    },
    aheadMs,
    problem() {
      const ahead = aheadMs();
      if (Math.abs(ahead) <= MOST_MS) return undefined;
      return `the clock of this machine is ${lengthOf(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} that of the database`;
    },
  };
}

/** This machine's clock differs from the database's. */
export class ClockError extends OperatorError {}

/** Compares for the first time. @throws ClockError if this machine has another time */
export async function requireSameTime(pool: Pick<pg.Pool, 'query'>, clock: DatabaseClock): Promise<void> {
  await clock.compare(pool);
  const problem = clock.problem();
  if (problem !== undefined)
    throw new ClockError(
      `Not started: ${problem}. Find out which of the two is wrong, set it (for example with NTP), and start again`,
    );
}

function lengthOf(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 86_400)} days`;
}
