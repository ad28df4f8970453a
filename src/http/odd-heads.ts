import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DomainError, InvalidError } from '../lib/errors.ts';
import { emptyPartIn } from './unknown-paths.ts';

/** Refuses request heads that nobody sends on purpose, or that two readers would understand differently. */
export function refuseOddHeads(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => done(faultOf(request)));
}

function faultOf(request: FastifyRequest): DomainError | undefined {
  const { url, raw } = request;
  if (url.includes('%00')) {
    return new InvalidError({ url: ['contains the character NUL, which is not allowed'] });
  }
  // Node silently keeps the first header; a proxy may have used the second (RFC 9112, 3.2).
  if (hostHeaders(raw.rawHeaders) > 1) return new InvalidError({ Host: ['Send this header only once.'] });
  // The router accepts an empty text as a parameter.
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
