import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { Authenticator } from '../iam/identity/service.ts';
import { ForbiddenError, UnauthenticatedError } from '../lib/errors.ts';
import { type Access, allows, type Principal } from '../requests/principal.ts';
import type { StrangerLimits } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. Set before the handler runs, on every route that isn't public. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** Who may call; a route without it admits nobody. */
    access?: Access | 'public';
  }
}

const ASKS: Record<Access, string> = {
  read: 'a member of the account',
  operate: 'an administrator or engineer of the account',
  administer: 'an administrator of the account',
  resell: "a reseller's administrator",
};

/**
 * Returns a function that authenticates and authorizes a request. Call it before the body is read. Unauthenticated
 * requests are counted by address.
 */
export function authentication(
  authenticator: Authenticator,
  strangers: StrangerLimits,
): (request: FastifyRequest, config: FastifyContextConfig) => Promise<void> {
  return async (request, { access, uncounted }) => {
    if (request.is404 || access === 'public') {
      if (!uncounted) await strangers.count(request.ip);
      return;
    }
    request.principal = await principalOf(request);
    if (!access || !allows(request.principal, access)) {
      throw new ForbiddenError(
        access ? `This operation needs the token of ${ASKS[access]}` : 'No token may call this operation',
      );
    }
  };

  async function principalOf({ headers, ip }: FastifyRequest): Promise<Principal> {
    try {
      return await authenticator.authenticate(headers, (ask) => strangers.admit(ip, ask));
    } catch (error) {
      if (error instanceof UnauthenticatedError) await strangers.count(ip);
      throw error;
    }
  }
}
