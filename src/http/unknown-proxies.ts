import type { FastifyRequest } from 'fastify';

const WARN_EVERY_MS = 3_600_000;

/**
 * Without trusted proxies, everybody behind a proxy looks like one sender: they share its limits, and lists
 * of actions and logins show its address. Anybody can send the header, so the warning is rare.
 */
export function warningOfUnknownProxies(): (request: FastifyRequest) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (request) => {
    if (request.headers['x-forwarded-for'] !== undefined && performance.now() - warnedAt > WARN_EVERY_MS) {
      warnedAt = performance.now();
      request.log.warn(
        { from: request.ip },
        'A request has the header X-Forwarded-For, but no proxy is trusted: all clients of a proxy count as one address, also for rate limits. If this is your proxy, add it to TRADEWIND_TRUST_PROXY',
      );
    }
  };
}
