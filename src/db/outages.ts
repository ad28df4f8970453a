import { DomainError, UnavailableError } from '../lib/errors.ts';

/**
 * PostgreSQL appendix A: classes 08 (connection) and 53 (out of disk, memory or connections), shutdown,
 * startup, a statement timeout, an I/O error, and a server that is read-only (a standby).
 */
const SQL_STATES = /^(08\w{3}|53\w{3}|57P0[1-4]|57014|58030|25006)$/;
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
  const named = new UnavailableError('The database does not answer at the moment; try again in a second');
  named.cause = error;
  return named;
}
