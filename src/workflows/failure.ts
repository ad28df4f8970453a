import { isOutage } from '../db/outages.ts';
import { DomainError } from '../lib/errors.ts';
import { TaskFailure } from './task-handler.ts';

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

/** Whether another attempt may succeed: said so by the error itself, or a fault of a connection anywhere in its causes. */
export function isTransient(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return false;
  if (error instanceof TaskFailure) return error.retryable;
  if (error instanceof DomainError) return false;
  if ('retryable' in error && error.retryable === true) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (SQL_STATES.has(code) || NETWORK.has(code) || isOutage(error)) return true;
  const causes = error instanceof AggregateError ? [error.cause, ...error.errors] : [error.cause];
  return causes.some((cause) => isTransient(cause, depth + 1));
}

/** What the task's reader is told of an error. Only texts written for people pass. */
export function reasonFor(error: unknown, taskId: string, step?: string): string {
  if (error instanceof TaskFailure || error instanceof DomainError) return error.message;
  const what = step === undefined ? 'The task' : `Step "${step}"`;
  return isTransient(error)
    ? `${what} failed: a service it depends on could not be reached. Try again later`
    : `${what} failed because of an internal error. The server's log has the details under task ${taskId}`;
}
