import { isOutage } from '../db/outages.ts';
import { DomainError } from '../lib/errors.ts';

// PostgreSQL appendix A: serialization failure, deadlock.
const SQL_STATES = new Set(['40001', '40P01']);
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
 * Whether another attempt may succeed: any of the error's causes is a connection error or a conflict of
 * transactions.
 */
export function isTransient(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (SQL_STATES.has(code) || NETWORK.has(code) || (!(error instanceof DomainError) && isOutage(error)))
    return true;
  const causes = error instanceof AggregateError ? [error.cause, ...error.errors] : [error.cause];
  return causes.some((cause) => isTransient(cause, depth + 1));
}
