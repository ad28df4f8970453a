import type { FastifyRequest } from 'fastify';
import { ForbiddenError } from '../lib/errors.ts';
import { withoutPrefix } from './dialect.ts';

/** The areas of the API. Each has its own form of error bodies. */
export type Area = 'cloud' | 'logging' | 'streaming' | 'iam' | 'tradewind';

/** Where the kit for testers is, if the server has one. */
export const TEST_KIT = '/tradewind/v1/test';

/** Returns the area of a request path, under either base address. Unknown paths count as cloud. */
export function areaOf(url: string): Area {
  const path = withoutPrefix(url);
  if (path.startsWith('/iam/')) return 'iam';
  if (path.startsWith('/streaming/')) return 'streaming';
  if (path.startsWith('/tradewind/')) return 'tradewind';
  return path.startsWith('/cloud/v1/laas/') ? 'logging' : 'cloud';
}

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
