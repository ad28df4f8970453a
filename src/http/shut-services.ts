import type { FastifyRequest } from 'fastify';
import { ForbiddenError } from '../lib/errors.ts';
import { type Area, areaOf } from './areas.ts';

const SERVICES: Partial<Record<Area, string>> = { cloud: 'CLOUD', logging: 'CLOUD', streaming: 'STREAMING' };

/**
 * Refuses services that the account's reseller has switched off. Comes after authentication.
 * @throws ForbiddenError
 */
export function refuseShutService({ principal, url }: Pick<FastifyRequest, 'principal' | 'url'>): void {
  const service = principal?.shutServices && SERVICES[areaOf(url)];
  if (!service || !principal.shutServices?.includes(service)) return;
  throw new ForbiddenError(
    `The service ${service} is switched off for client ${principal.clientId}; its reseller can switch it on`,
  );
}
