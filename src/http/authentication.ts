import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { Authenticator } from '../iam/identity/service.ts';
import { ForbiddenError, UnauthenticatedError } from '../lib/errors.ts';
import type { IncomingRequest } from '../requests/incoming-request.ts';
import { type Access, hasSameRights, type Principal } from '../requests/principal.ts';
import { requireAccess } from '../requests/project-roles.ts';
import { refuseShutService } from './areas.ts';
import { withoutPrefix } from './dialect.ts';
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

export interface Admission {
  /**
   * Authenticates and authorizes a request. To be called before the body is read. Unauthenticated requests are counted
   * by address.
   * @throws UnauthenticatedError, ForbiddenError
   */
  admit(request: FastifyRequest, config: FastifyContextConfig): Promise<void>;
  /**
   * Makes sure that the caller has kept the rights with which the request was admitted. Asks the database, by `within`,
   * only for what isn't in memory; without it, by any connection.
   * @throws UnauthenticatedError, ForbiddenError
   */
  stillAdmitted(
    request: FastifyRequest,
    ...within: Partial<Parameters<IncomingRequest['stillAdmitted']>>
  ): Promise<void>;
}

export function authentication(authenticator: Authenticator, strangers: StrangerLimits): Admission {
  return {
    async admit(request, { access, uncounted }) {
      if (request.is404 || access === 'public') {
        if (!uncounted) await strangers.count(request.ip);
        return;
      }
      request.principal = await principalOf(request);
      if (!access) throw new ForbiddenError('No token may call this operation');
      requireAccess(request.principal, access, ASKS[access], () => askedFor(request));
    },
    async stillAdmitted({ headers, principal, url }, within) {
      const now = await authenticator.authenticate(headers, undefined, within);
      refuseShutService({ principal: now, url });
      if (hasSameRights(now, principal)) return;
      throw new ForbiddenError('The rights of this token changed while the request waited; send it again');
    },
  };

  function askedFor({ params, routeOptions }: FastifyRequest) {
    const { operationId = '' } = (routeOptions.schema ?? {}) as { operationId?: string };
    const { project_id: projectId } = params as { project_id?: string };
    return { operation: operationId, path: withoutPrefix(routeOptions.url ?? ''), projectId };
  }

  async function principalOf({ headers, ip }: FastifyRequest): Promise<Principal> {
    try {
      return await authenticator.authenticate(headers, (ask) => strangers.admit(ip, ask));
    } catch (error) {
      if (error instanceof UnauthenticatedError) await strangers.count(ip);
      throw error;
    }
  }
}
