import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../iam/identity/authenticate.ts';
import { type Access, allows, type Principal } from '../iam/identity/principal.ts';
import { ForbiddenError } from '../lib/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling. Set on every route but the public ones before its handler runs. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** Who may call; a route without it would be open to nobody. */
    access?: Access | 'public';
  }
}

const ASKS: Record<Access, string> = {
  read: 'a member of the account',
  operate: 'an administrator or engineer of the account',
  administer: 'an administrator of the account',
  resell: "a reseller's administrator",
};

/** Every request is authenticated and allowed before its body is read. */
export function requireAuthentication(app: FastifyInstance, authenticator: Authenticator): void {
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request) => {
    if (request.is404) return;
    const { access } = request.routeOptions.config;
    if (access === 'public') return;
    request.principal = await authenticator.authenticate(request.headers.authorization);
    if (!access || !allows(request.principal, access)) {
      throw new ForbiddenError(`This operation needs a token of ${access ? ASKS[access] : 'nobody'}`);
    }
  });
}
