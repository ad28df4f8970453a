import type { IncomingMessage } from 'node:http';

const heads = new WeakSet<IncomingMessage>();

/**
 * Makes the router find the route of a GET for a HEAD: routes of their own would be a quarter of all. Node sends no
 * body.
 */
export function routeAsGet(request: IncomingMessage): void {
  if (request.method !== 'HEAD') return;
  heads.add(request);
  request.method = 'GET';
}

/** Makes it a HEAD again for everything that comes after the router. */
export function nameHead(request: IncomingMessage): void {
  if (heads.has(request)) request.method = 'HEAD';
}
