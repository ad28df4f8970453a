import type { FastifyRequest } from 'fastify';
import { recordedBy } from '../lib/request-context.ts';
import type { Principal } from '../requests/principal.ts';

/**
 * Returns a route's hook that refuses, before the body is read, callers who may not use the number in the
 * path.
 */
export function pathGuard<On>(
  on: On,
  param: string,
  require: (on: On, principal: Principal, id: number) => Promise<void>,
) {
  return async (request: FastifyRequest): Promise<void> => {
    const id = Number((request.params as Record<string, string>)[param]);
    if (!Number.isSafeInteger(id)) return;
    await recordedBy(request.changing, () => require(on, request.principal, id));
  };
}
