import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { NotFoundError } from '../lib/errors.ts';
import { TEST_KIT } from './areas.ts';
import { HttpError } from './errors.ts';

/** The maximum length of one path parameter. */
export const MAX_PARAM_LENGTH = 500;

const NOT_SERVED = ': not served by Tradewind; see /docs and docs/compatibility.md';
const KIT_IS_OFF =
  ': this server has no kit for testers; start it with TRADEWIND_TEST_API=true (docs/test-kit.md)';

/**
 * Returns a function that refuses requests that no route handles: 405 with `Allow` if the path exists with other
 * methods, else 404. Call it before the body is read: a problem with the body or its type would lead to another
 * answer.
 */
export function refusalOfUnknownPaths(
  app: FastifyInstance,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const methods = new Map<string, Set<string>>();
  /** Made for the first unknown path. */
  let paths: ReturnType<typeof routerOf> | undefined;

  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    methods.set(url, known);
    for (const name of [method].flat()) known.add(name);
    if (known.has('GET')) known.add('HEAD');
  });

  function faultOf(request: FastifyRequest, reply: FastifyReply): Error {
    const emptyPart = emptyPartIn(request.url);
    if (emptyPart) return emptyPart;
    const path = pathOf(request.url);
    paths ??= routerOf(methods.keys());
    const route = paths.find('GET', path);
    if (!route) {
      const kitIsOff = path.startsWith(`${TEST_KIT}/`) && !methods.has(`${TEST_KIT}/reset`);
      return new NotFoundError('Path', path, kitIsOff ? KIT_IS_OFF : NOT_SERVED);
    }
    void reply.header('allow', [...(methods.get(route.store as string) ?? [])].sort().join(', '));
    return new HttpError(405, 'HTTP 405: Method Not Allowed');
  }

  return (request, reply) => {
    if (request.is404) throw faultOf(request, reply);
  };
}

function routerOf(urls: Iterable<string>) {
  const paths = findMyWay<findMyWay.HTTPVersion.V1>({ maxParamLength: MAX_PARAM_LENGTH });
  for (const url of urls) paths.on('GET', url, () => {}, url);
  return paths;
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

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
