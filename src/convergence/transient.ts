import { isOutage } from '../db/outages.ts';
import { isStalePlan } from '../db/statements.ts';
import { DomainError } from '../lib/errors.ts';

// PostgreSQL appendix A: serialization failure, deadlock.
const CONFLICTS = new Set(['40001', '40P01']);
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);
const MAX_DEPTH = 5;

/**
 * Whether another attempt may succeed: any of the error's causes is a connection error, a conflict of transactions, or a plan
 * that a newer release has made stale.
 */
export function isTransient(error: unknown): boolean {
  return someCause(error, (each) => {
    const isOfNetwork = NETWORK.has(codeOf(each));
    return (
      isOfNetwork ||
      CONFLICTS.has(codeOf(each)) ||
      isStalePlan(each) ||
      (!(each instanceof DomainError) && isOutage(each))
    );
  });
}

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');

const isConflict = (error: unknown): boolean => someCause(error, (each) => CONFLICTS.has(codeOf(each)));

function someCause(error: unknown, is: (error: Error) => boolean, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return false;
  if (is(error)) return true;
  const causes = error instanceof AggregateError ? [error.cause, ...error.errors] : [error.cause];
  return causes.some((cause) => someCause(cause, is, depth + 1));
}

/** Says of a transient error of `what` whether it can't be reached, or only was in another's way. */
export function troubleWith(what: string, error: unknown): string {
  return isConflict(error)
    ? 'the database ended a deadlock or a conflict of transactions'
    : `${what} can not be reached`;
}
