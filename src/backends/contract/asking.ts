import type { Logger } from 'pino';
import { ConflictError, UnavailableError } from '../../lib/errors.ts';
import { untilAborted } from '../../lib/loop.ts';
import { type Call, Refused, Unavailable } from './backend.ts';

/** How long a caller waits for the infrastructure. */
const PATIENCE_MS = 10_000;

/**
 * Asks a backend something that somebody waits for.
 * @throws ConflictError if the infrastructure refuses, UnavailableError
 */
export async function asked<T>(log: Pick<Logger, 'info'>, ask: (call: Pick<Call, 'log' | 'signal'>) => Promise<T>) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return untilAborted(signal, ask({ log: log as Logger, signal })).catch((error: unknown) => {
    throw asAnswered(error);
  });
}

function asAnswered(error: unknown): unknown {
  if (error instanceof Refused) return new ConflictError(error.message);
  const late = error instanceof DOMException && error.name === 'TimeoutError';
  if (!late && !(error instanceof Unavailable)) return error;
  const unavailable = new UnavailableError('The infrastructure does not answer at the moment; try again later');
  unavailable.cause = error;
  return unavailable;
}
