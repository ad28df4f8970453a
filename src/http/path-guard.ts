import type { FastifyRequest } from 'fastify';
import type { Principal } from '../requests/principal.ts';

/** A hook of a route that refuses, before the body is read, whoever may not go by the number in its path. */
export function pathGuard(param: string, require: (principal: Principal, id: number) => Promise<void>) {
  return async (request: FastifyRequest): Promise<void> => {
    const id = Number((request.params as Record<string, string>)[param]);
    if (Number.isSafeInteger(id)) await require(request.principal, id);
  };
}
