import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { NotFoundError } from '../lib/errors.ts';
import { TEST_KIT } from './areas.ts';
import { HttpError } from './errors.ts';
import { type KnownPath, nearestPaths } from './nearest-path.ts';

/** The maximum length of one path parameter. */
export const MAX_PARAM_LENGTH = 500;

const NOT_SERVED = ': not served by Tradewind; see /docs and docs/reference/compatibility.md';
const KIT_IS_OFF =
  ': this server has no kit for testers; start it with TRADEWIND_TEST_API=true (docs/testers.md)';

/**
 * Returns a function that refuses requests that no route handles: 405 with `Allow` if the path exists with other
 * methods, else 404 with the path that was most likely meant. Call it before the body is read: a problem with the body or its type would lead to another
 * answer.
 */
export function refusalOfUnknownPaths(
  app: FastifyInstance,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const known = new Map<string, KnownPath & { methods: Set<string> }>();
  /** Only these are suggested: the others are for programs beside the server. */
  const documented = new Set<string>();
  /** Made for the first unknown path. */
  let paths: { router: ReturnType<typeof routerOf>; nearest: ReturnType<typeof nearestPaths> } | undefined;

  app.addHook('onRoute', ({ url, method, schema }) => {
    const path = known.get(url) ?? { url, methods: new Set(), integers: integersIn(schema?.params) };
    known.set(url, path);
    if (!schema?.hide) documented.add(url);
    for (const name of [method].flat()) path.methods.add(name);
    if (path.methods.has('GET')) path.methods.add('HEAD');
  });

  function faultOf(request: FastifyRequest, reply: FastifyReply): Error {
    const emptyPart = emptyPartIn(request.url);
    if (emptyPart) return emptyPart;
    const { method } = request;
    const path = pathOf(request.url);
    paths ??= {
      router: routerOf(known.keys()),
      nearest: nearestPaths([...known.values()].filter(({ url }) => documented.has(url))),
    };
    const { router, nearest } = paths;
    const methodsAt = (one: string) => known.get(router.find('GET', one)?.store as string)?.methods;
    const methods = methodsAt(path);
    if (!methods) {
      if (path.startsWith(`${TEST_KIT}/`) && !known.has(`${TEST_KIT}/reset`))
        return new NotFoundError('Path', path, KIT_IS_OFF);
      const meant = nearest(method, path);
      return new NotFoundError('Path', path, meant === undefined ? NOT_SERVED : didYouMean(meant));
    }
    const allowed = [...methods].sort().join(', ');
    void reply.header('allow', allowed);
    const other = otherVersionsOf(path).find((one) => methodsAt(one)?.has(method));
    const where = other === undefined ? '' : `; ${method} is at ${other}`;
    return new HttpError(405, `HTTP 405: Method Not Allowed; this path takes ${allowed}${where}`);
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

const didYouMean = (path: string): string => `: did you mean ${path}? /docs lists all paths`;

const otherVersionsOf = (path: string): string[] =>
  ['/v1/', '/v2/', '/v3/'].map((version) => path.replace(/\/v\d\//, version));

/** Returns the names of the parameters that are integers. */
function integersIn(params: unknown): Set<string> {
  const { properties = {} } = (params ?? {}) as { properties?: Record<string, { type?: string }> };
  return new Set(Object.keys(properties).filter((name) => properties[name]?.type === 'integer'));
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
