import type { FastifyRequest } from 'fastify';
import { dryRunNow } from '../lib/dry-run.ts';
import { ForbiddenError, UnauthenticatedError } from '../lib/errors.ts';
import type { Refusals } from '../requests/refusals.ts';
import { changesSomething } from './changing-requests.ts';

/** Returns a function that has refused credentials and rights recorded. Requests for a change record them themselves. */
export function noteRefusals(refusals: Refusals): (error: Error, request: FastifyRequest) => void {
  return (error, request) => {
    if (request.routeOptions.config.access === 'public' || dryRunNow()) return;
    if (error instanceof UnauthenticatedError) {
      if (!error.given) return;
      const { refused } = error;
      refusals.note({
        ...about(request),
        status: 401,
        whose: refused,
        reason: refused?.reason ?? 'unknown',
      });
    } else if (
      error instanceof ForbiddenError &&
      request.principal &&
      !changesSomething(request.method, request.routeOptions.config)
    ) {
      refusals.note({ ...about(request), status: 403, whose: request.principal, reason: 'no right' });
    }
  };
}

function about(request: FastifyRequest) {
  const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string };
  return {
    id: request.id,
    operation: operationId ?? '',
    method: request.method,
    path: request.url.split('?', 1)[0] ?? '',
    ip: request.ip,
    userAgent: request.headers['user-agent'],
  };
}
