import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { isOutage } from './outages.ts';

const PAUSE_MS = 500;
const MOST_CAUSES = 5;

/** Runs work that may fail because the database is unavailable right now, such as each step of a start. */
export type Patience = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Waits, at most `seconds` for all work together, while the database doesn't answer, starts up, recovers or
 * breaks off, and logs when waiting begins and ends. `work` is repeated from its beginning.
 */
export function createPatience(seconds: number, log: Logger): Patience {
  const end = performance.now() + seconds * 1000;
  return async (work) => {
    let waited = false;
    const result = await pRetry(work, {
      retries: Number.POSITIVE_INFINITY,
      factor: 1,
      minTimeout: PAUSE_MS,
      shouldRetry: ({ error }) => performance.now() < end && isOutageWithin(error),
      onFailedAttempt({ error }) {
        if (waited || !isOutageWithin(error)) return;
        waited = true;
        const left = Math.max(0, Math.round((end - performance.now()) / 1000));
        if (left > 0)
          log.warn({ why: error.message }, `The database does not answer; waiting up to ${left} s for it`);
      },
    });
    if (waited) log.info('The database answers again');
    return result;
  };
}

/** Errors with a better message than the outage's own have the outage as their cause. */
function isOutageWithin(error: unknown): boolean {
  let cause: unknown = error;
  for (let depth = 0; depth < MOST_CAUSES && cause instanceof Error; depth++) {
    if (isOutage(cause)) return true;
    cause = cause.cause;
  }
  return false;
}
