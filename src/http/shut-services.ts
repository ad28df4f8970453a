import type { FastifyInstance } from 'fastify';
import { ForbiddenError } from '../lib/errors.ts';
import { type Area, areaOf } from './areas.ts';

const SERVICES: Partial<Record<Area, string>> = { cloud: 'CLOUD', logging: 'CLOUD', streaming: 'STREAMING' };

/** Refuses services that the account's reseller has switched off. Comes after authentication. */
export function refuseShutServices(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { shutServices, clientId } = request.principal ?? {};
    const service = shutServices && SERVICES[areaOf(request.url)];
    done(
      service && shutServices.includes(service)
        ? new ForbiddenError(
            `The service ${service} is switched off for client ${clientId}; its reseller can switch it on`,
          )
        : undefined,
    );
  });
}
