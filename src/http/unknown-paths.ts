import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { NotFoundError } from '../lib/errors.ts';
import { closestName } from '../lib/texts.ts';
import { TEST_KIT } from './dialect.ts';
import { HttpError } from './errors.ts';
import { emptyPartIn, pathOf } from './heads.ts';

/** A part of the paths of an API: what may follow, by its text, such as `v1` or `:project_id`. */
interface Part {
  next: Map<string, Part>;
  /** Whether only digits fit. */
  integer: boolean;
  /** Of the path that ends here, if one does. */
  methods?: ReadonlySet<string>;
}

export interface KnownPath {
  /** As it is registered, such as `/cloud/v1/projects/:project_id`. */
  url: string;
  methods: ReadonlySet<string>;
  /** The parameters that are integers. */
  integers: ReadonlySet<string>;
}

/** A way through the parts. */
interface Way {
  at: Part;
  path: string;
  /** 0 while nothing was taken for a mistake. */
  mistake: number;
  /** Whether a text has to follow, no parameter: any text would fit that. */
  guessed?: boolean;
}

const MISTAKES = { version: 1, spelling: 2, missing: 3 };
/** Counts more than any mistake. */
const OTHER_METHOD = 10;
const VERSION = /^v\d+$/i;
const LONGEST = 1_000;

/**
 * Returns a function that finds the known path that was most likely meant: one that differs by its version, by one
 * misspelt part, or by one that is missing. It goes through the parts once, with one mistake at most, so that strangers
 * can't make it expensive.
 */
export function nearestPaths(known: Iterable<KnownPath>): (method: string, path: string) => string | undefined {
  const root: Part = { next: new Map(), integer: false };
  let depth = 0;
  for (const { url, methods, integers } of known) {
    if (url.includes('*')) continue;
    const texts = url.split('/').slice(1);
    depth = Math.max(depth, texts.length);
    partAt(root, texts, integers).methods = methods;
  }

  return (method, path) => {
    const texts = path.split('/').slice(1);
    if (path.length > LONGEST || texts.length > depth) return undefined;
    const begun: Way[] = [{ at: root, path: '', mistake: 0 }];
    const ends = texts
      .reduce((ways, text) => ways.concat(withMissing(ways)).flatMap((way) => after(way, text)), begun)
      .flatMap((way) => [way, ...withMissing([way]).filter((more) => more.path.endsWith('}'))])
      .flatMap(({ at, path, mistake }) =>
        at.methods ? [{ path, rank: mistake + (at.methods.has(method) ? 0 : OTHER_METHOD) }] : [],
      );
    return ends.sort((a, b) => a.rank - b.rank)[0]?.path;
  };
}

function partAt(root: Part, texts: readonly string[], integers: ReadonlySet<string>): Part {
  return texts.reduce((part, text) => {
    const known = part.next.get(text) ?? { next: new Map(), integer: integers.has(text.slice(1)) };
    part.next.set(text, known);
    return known;
  }, root);
}

/** Returns the ways that go on with a text: as it is, and as it may have been meant. */
function after({ at, path, mistake, guessed }: Way, text: string): Way[] {
  const ways: Way[] = [];
  for (const [name, next] of at.next)
    if (isParameter(name) ? !guessed && (!next.integer || /^\d+$/.test(text)) : name === text)
      ways.push({ at: next, path: `${path}/${text}`, mistake });
  if (mistake > 0) return ways;
  const names = [...at.next.keys()].filter((name) => !isParameter(name) && name !== text);
  const meant = closestName(text, names);
  for (const name of names) {
    const next = at.next.get(name) as Part;
    if (VERSION.test(text) && VERSION.test(name))
      ways.push({ at: next, path: `${path}/${name}`, mistake: MISTAKES.version });
    else if (name === meant) ways.push({ at: next, path: `${path}/${name}`, mistake: MISTAKES.spelling });
  }
  return ways;
}

/** Returns the ways to which one part is added that nobody typed. */
function withMissing(ways: readonly Way[]): Way[] {
  return ways
    .filter(({ mistake }) => mistake === 0)
    .flatMap(({ at, path }) =>
      [...at.next].map(([name, next]) => ({
        at: next,
        path: `${path}/${isParameter(name) ? `{${name.slice(1)}}` : name}`,
        mistake: MISTAKES.missing,
        guessed: !isParameter(name),
      })),
    );
}

const isParameter = (name: string): boolean => name.startsWith(':');

export const MAX_PARAM_LENGTH = 500;

const NOT_SERVED = ': not served by Tradewind; see /docs and docs/reference/compatibility.md';
const KIT_IS_OFF = ': this server has no kit for testers; start it with TRADEWIND_TEST_API=true (docs/testers.md)';

/**
 * Returns a function that refuses requests that no route handles: 405 with `Allow` if the path exists with other
 * methods, else 404 with the path that was most likely meant. Call it before the body is read: a problem with the body or its type would lead to another
 * answer.
 */
export function refusalOfUnknownPaths(app: FastifyInstance): (request: FastifyRequest, reply: FastifyReply) => never {
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
    throw faultOf(request, reply);
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
