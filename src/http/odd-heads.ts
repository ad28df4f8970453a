import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DomainError, InvalidError } from '../lib/errors.ts';
import { emptyPartIn } from './unknown-paths.ts';

/** Refuses heads of requests that nobody means, or that two readers would take for different ones. */
export function refuseOddHeads(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => done(faultOf(request)));
}

function faultOf(request: FastifyRequest): DomainError | undefined {
  const { url, raw } = request;
  if (url.includes('%00')) {
    return new InvalidError({ url: ['contains the character NUL, which is not allowed'] });
  }
  // Node keeps the first and says nothing; a proxy may have gone by the second (RFC 9112, 3.2).
  if (hostHeaders(raw.rawHeaders) > 1) return new InvalidError({ Host: ['Give this header once.'] });
  // The router takes the empty text for a parameter.
  return request.is404 || request.routeOptions.url?.endsWith('/') ? undefined : emptyPartIn(url);
}

function hostHeaders(rawHeaders: readonly string[]): number {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') found++;
  }
  return found;
}
