import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { isOutage } from './outages.ts';

const PAUSE_MS = 500;
const MOST_CAUSES = 5;

/** Does work that the database may be too ill for at the moment, such as each step of a start. */
export type Patience = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Waits, once for all work together at most `seconds`, for a database that doesn't answer, is starting up, recovers or
 * breaks off; says so when that begins and when it is over. `work` is done anew from its beginning.
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
          log.warn({ why: error.message }, `The database does not answer; waiting for it, at most ${left} s`);
      },
    });
    if (waited) log.info('The database answers again');
    return result;
  };
}

/** What was said of an outage in better words keeps it as its cause. */
function isOutageWithin(error: unknown): boolean {
  let cause: unknown = error;
  for (let depth = 0; depth < MOST_CAUSES && cause instanceof Error; depth++) {
    if (isOutage(cause)) return true;
    cause = cause.cause;
  }
  return false;
}
