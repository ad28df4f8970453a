import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { DomainError, UnavailableError } from '../lib/errors.ts';

/**
 * PostgreSQL appendix A: classes 08 (connection) and 53 (out of disk, memory or connections), shutdown,
 * startup, a statement timeout, an I/O error, and a server that is read-only (a standby).
 */
const SQL_STATES = /^(08\w{3}|53\w{3}|57P0[1-4]|57014|58030|25006)$/;
/** The disk of the database is full. What only reads is still answered. */
export const DISK_FULL = '53100';
/** The socket calls that fail in Node; `code` says why, and has too many values to list. */
const SOCKET_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo']);
// Errors that `pg` throws without a code.
const LOST_CONNECTION =
  /^Connection terminated|^timeout exceeded when trying to connect|connection error and is not queryable/;

/** Whether the database can't work right now, through no fault of the statement. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DomainError) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (SQL_STATES.test(code ?? '') || SOCKET_CALLS.has(syscall ?? '')) return true;
  // A host name with several addresses fails once for each address.
  if (error instanceof AggregateError) return error.errors.some(isOutage);
  return LOST_CONNECTION.test(error.message);
}

/** Returns what to tell the client about a database outage; other errors are returned unchanged. */
export function outageNamed(error: Error): Error {
  if (!isOutage(error)) return error;
  const isFull = 'code' in error && error.code === DISK_FULL;
  const named = new UnavailableError(
    isFull
      ? 'The disk of the database is full, so nothing can be changed until the operator has made room'
      : 'The database does not answer at the moment; try again in a second',
  );
  named.cause = error;
  return named;
}

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
        if (left > 0) log.warn({ why: error.message }, `The database does not answer; waiting up to ${left} s for it`);
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
