import type { FastifyRequest } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import { emptyPartIn } from './unknown-paths.ts';

/**
 * Refuses request heads that nobody sends on purpose, or that two readers would understand differently.
 * `route` is undefined for unknown paths.
 * @throws InvalidError, NotFoundError
 */
export function refuseOddHead({ url, raw }: FastifyRequest, route: string | undefined): void {
  if (url.includes('%00')) {
    throw new InvalidError({ url: ['contains the character NUL, which is not allowed'] });
  }
  // Node silently keeps the first header; a proxy may have used the second (RFC 9112, 3.2).
  if (hostHeaders(raw.rawHeaders) > 1) throw new InvalidError({ Host: ['Send this header only once.'] });
  // The router accepts an empty text as a parameter.
  const fault = route === undefined || route.endsWith('/') ? undefined : emptyPartIn(url);
  if (fault) throw fault;
}

function hostHeaders(rawHeaders: readonly string[]): number {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') found++;
  }
  return found;
}
