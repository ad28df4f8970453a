import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidError, NotFoundError } from '../lib/errors.ts';
import { HttpError } from './errors.ts';

const NAME = 'X-Content-Type-Options';
const VALUE = 'nosniff';

/** Sets the header on every answer, even Node's own: a browser must not render stored text as a page. */
class Answer<Request extends IncomingMessage> extends ServerResponse<Request> {
  constructor(...args: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...args);
    this.setHeader(NAME, VALUE);
  }
}

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Answers what is no request, in the form of the framework, which would leave the header out. */
function clientErrorHandler(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status = STATUSES[error.code] ?? 400;
  const label = STATUS_CODES[status];
  const body = JSON.stringify({ error: label, message: label, statusCode: status });
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${label}\r\nContent-Length: ${body.length}\r\nContent-Type: application/json\r\n${NAME}: ${VALUE}\r\n\r\n${body}`,
    );
  }
  socket.destroy(error);
}

export const WITHOUT_SNIFFING = { http: { ServerResponse: Answer }, clientErrorHandler };

/** Refuses a body that would have to be decoded first, and says what is accepted (RFC 9110, 8.4 and 15.5.16). */
export function refuseEncodedBody({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding']?.trim() ?? '';
  const empty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (empty || encoding === '' || encoding.toLowerCase() === 'identity') return;
  void reply.header('accept-encoding', 'identity');
  throw new HttpError(415, `The body must be sent without Content-Encoding, not in ${encoding.slice(0, 100)}`);
}

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

/** Finds a slash at the end, or two in a row, which result from an empty variable. */
export function emptyPartIn(url: string): NotFoundError | undefined {
  const path = pathOf(url);
  if (!path.startsWith('/') || path === '/') return undefined;
  if (path.includes('//')) {
    return new NotFoundError('Path', path, '; it has two slashes in a row with nothing between them');
  }
  if (!path.endsWith('/')) return undefined;
  return new NotFoundError('Path', path, `; remove the slash at its end: ${path.slice(0, -1)}`);
}

/** Returns an address without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
