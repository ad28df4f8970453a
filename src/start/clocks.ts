import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { DatabaseClock } from '../db/database-clock.ts';
import { type Loop, loop } from '../lib/loop.ts';
import type { Clock } from '../lib/time.ts';

const COMPARE_MS = 5_000;

/** What a process knows of time besides what its requests need. */
export interface Clocks {
  databaseClock: Pick<DatabaseClock, 'problem' | 'aheadMs'>;
  removalTime: Pick<RemovalTime, 'now' | 'problem' | 'lateMs'>;
}

/** A process whose clock begins to differ stops its regular work until it doesn't, and answers requests. */
export function keepComparing(
  clock: DatabaseClock,
  { database, log }: { database: Pick<Database, 'pool'>; log: Logger },
): Pick<Loop, 'stop'> {
  let known: string | undefined;
  const compare = async () => {
    await clock.compare(database.pool);
    const problem = clock.problem();
    if (problem !== undefined && known === undefined) log.error(`Housekeeping and work on tasks stop: ${problem}`);
    if (problem === undefined && known !== undefined)
      log.info('The clock of this machine is that of the database again');
    known = problem;
  };
  // The start has compared them.
  return loop('comparing the clocks', COMPARE_MS, log, compare, COMPARE_MS);
}

const ADVANCE_MS = 60_000;
/** After a jump, an hour of work removes what a day would have removed: there is time to notice that a clock is wrong. */
const PACE = 24;
/** What a restart or a busy database may cost. */
const LATE_MS = 3_600_000;

/**
 * The time by which old rows are removed for good: the database's, but it never jumps. How far it has come is in the
 * database, and it goes on from there at most 24 times as fast as time itself, however many processes move it on.
 */
export interface RemovalTime extends Clock {
  /** By how much it is behind, after a jump of the database's clock or a long stop. */
  lateMs(): number;
  problem(): string | undefined;
  stop(): Promise<void>;
}

/** For tests that set the clock, which then may remove what they like. */
export const removalTimeOf = (clock: Clock): RemovalTime => ({
  now: () => clock.now(),
  lateMs: () => 0,
  problem: () => undefined,
  stop: async () => {},
});

/** A `clock` that isn't the database's belongs to a test. */
export async function startRemovalTime({
  database: { pool },
  clock,
  databaseClock,
  log,
}: {
  database: Pick<Database, 'pool'>;
  clock: Clock;
  databaseClock: Pick<DatabaseClock, 'problem' | 'now'>;
  log: Logger;
}): Promise<RemovalTime> {
  if (clock !== databaseClock) return removalTimeOf(clock);
  let reached = { until: new Date(0), now: new Date(0) };
  /** Where it was when this process looked, by its monotonic clock. */
  let seen: { until: Date; at: number } | undefined;

  async function advance(): Promise<void> {
    const at = performance.now();
    // Nobody knows whose clock is right.
    if (databaseClock.problem() !== undefined) seen = undefined;
    const most = seen && new Date(seen.until.getTime() + PACE * (at - seen.at));
    const { rows } = await pool.query<{ until: Date; now: Date }>(
      `with moved as (update removal_time set until = greatest(until, least(now(), coalesce($1::timestamptz, until))) returning until)
       select until, now() as now from moved`,
      [most],
    );
    const [found] = rows;
    if (!found) return;
    reached = found;
    seen = { until: found.until, at };
  }

  const lateMs = () => Math.max(0, reached.now.getTime() - reached.until.getTime());
  await advance();
  const goOn = async () => {
    const before = lateMs() > LATE_MS;
    await advance();
    const late = lateMs() > LATE_MS;
    if (late && !before) log.warn({ until: reached.until }, problem());
    if (before && !late) log.info('Old records are removed as usual again');
  };
  const advancing = loop('moving on what is old', ADVANCE_MS, log, goOn, ADVANCE_MS);
  return {
    now: () => new Date(Math.min(reached.until.getTime(), reached.now.getTime())),
    lateMs,
    problem: () => (lateMs() > LATE_MS ? problem() : undefined),
    stop: () => advancing.stop(),
  };

  function problem(): string {
    return `the clock of the database has jumped to ${reached.now.toISOString()}, or nothing ran for a while: what is old is removed as of ${reached.until.toISOString()}, which catches up by a day in an hour. If the clock is wrong, set it right before that`;
  }
}
