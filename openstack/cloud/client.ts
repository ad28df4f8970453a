import pLimit, { type LimitFunction } from 'p-limit';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Call, Unavailable } from '../../src/backends/contract/backend.ts';
import type { CloudAccess } from './clouds.ts';
import { failureOf, isGone, SERVICES, type Service, unreachable } from './errors.ts';

/** Requests in flight to each service, of one process: one that hangs holds up no other. */
const MOST_REQUESTS = 32;
/** Some take long: Nova answers an attached interface only when it is there. */
const PATIENCE_MS = 45_000;
/** A token is replaced so long before its end. */
const EARLY_MS = 120_000;
/** No list has more pages. */
const MOST_PAGES = 1_000;
/** Low ones, so that clouds of many years have them: Nova of Train, Cinder of Train. */
export const MICROVERSIONS = { compute: '2.79', volume: '3.59' } as const;

const SomeVersions = Type.Array(
  Type.Object({ id: Type.String(), status: Type.String(), version: Type.Optional(Type.String()) }),
);
/** The root of a service lists what it speaks. Barbican has the list in one more object. */
const Versions = Type.Object({ versions: Type.Union([SomeVersions, Type.Object({ values: SomeVersions })]) });

const Token = Type.Object({
  token: Type.Object({
    expires_at: Type.String(),
    issued_at: Type.String(),
    user: Type.Object({ id: Type.String() }),
    project: Type.Object({ id: Type.String(), name: Type.String() }),
    catalog: Type.Array(
      Type.Object({
        type: Type.String(),
        endpoints: Type.Array(Type.Object({ interface: Type.String(), region_id: Type.String(), url: Type.String() })),
      }),
    ),
  }),
});
type Token = Static<typeof Token>['token'];

interface Session {
  secret: string;
  projectId: string;
  urls: Partial<Record<Service, string>>;
  /** Of `performance.now()`. */
  until: number;
}

type Query = Record<string, string>;
type Method = 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';

/** Requests to one cloud, on behalf of one call of the backend. All throw CloudError for a refusal, and Unavailable. */
export interface Api {
  /** @throws CloudError with status 404 */
  get<S extends TSchema>(service: Service, path: string, schema: S, query?: Query): Promise<Static<S>>;
  /** Returns undefined if there is no such thing. */
  find<S extends TSchema>(service: Service, path: string, schema: S): Promise<Static<S> | undefined>;
  /** Returns a list with all of its pages. Its name in the answer is the last part of the path, or `as`. */
  list<S extends TSchema>(service: Service, path: string, of: S, query?: Query, as?: string): Promise<Static<S>[]>;
  /** What changes something goes on when nobody waits for it any more: what it makes would be missed otherwise. */
  send<S extends TSchema>(
    service: Service,
    method: Exclude<Method, 'GET'>,
    path: string,
    body: unknown,
    schema?: S,
  ): Promise<Static<S>>;
  /** Returns the ID of the project that the credentials belong to. */
  projectId(): Promise<string>;
  /** Whether the cloud has the service. */
  has(service: Service): Promise<boolean>;
  /** Returns the highest version that the service speaks, such as 2.93: the microversion, where it has some. */
  version(service: Service): Promise<string>;
}

export interface Client {
  authUrl: string;
  on(call: Pick<Call, 'log' | 'signal'>): Api;
}

interface Request {
  method: Method;
  body?: unknown;
  query?: Query;
}

/** Speaks to the services of a cloud, and keeps one token for all calls. There is no library that is kept up. */
export function createClient(access: CloudAccess): Client {
  const limits = new Map<Service, LimitFunction>();
  let kept: Session | undefined;
  let coming: Promise<Session> | undefined;

  /** Returns the session, but not the one that was refused. */
  async function sessionFor(call: Pick<Call, 'log'>, refused?: Session): Promise<Session> {
    if (kept && kept !== refused && kept.until > performance.now()) return kept;
    coming ??= login(access, call)
      .then((session) => (kept = session))
      .finally(() => {
        coming = undefined;
      });
    return coming;
  }

  async function ask(call: Pick<Call, 'log' | 'signal'>, service: Service, path: string, request: Request) {
    const session = await sessionFor(call);
    const first = await exchange(call, session, service, path, request);
    if (first.response.status !== 401) return answered(service, first, request);
    const second = await exchange(call, await sessionFor(call, session), service, path, request);
    return answered(service, second, request);
  }

  function exchange(
    call: Pick<Call, 'log' | 'signal'>,
    session: Session,
    service: Service,
    path: string,
    { method, body, query }: Request,
  ) {
    const url = new URL(`${urlIn(session, service)}${path}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.append(name, value);
    const microversion =
      service in MICROVERSIONS && `${service} ${MICROVERSIONS[service as keyof typeof MICROVERSIONS]}`;
    const headers = {
      accept: 'application/json',
      'x-auth-token': session.secret,
      ...(microversion && { 'openstack-api-version': microversion }),
      ...(body !== undefined && { 'content-type': typeOf(service, method) }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const limit = limits.get(service) ?? pLimit(MOST_REQUESTS);
    limits.set(service, limit);
    return limit(() => send(call, service, url, { method, headers, ...sent }));
  }

  return {
    authUrl: access.authUrl,
    on(call) {
      async function json(service: Service, path: string, request: Request): Promise<unknown> {
        const text = await ask(call, service, path, request);
        return text === '' ? {} : parsed(service, text);
      }
      const api: Api = {
        async get(service, path, schema, query) {
          return checked(service, schema, await json(service, path, { method: 'GET', ...(query && { query }) }));
        },
        async find(service, path, schema) {
          try {
            return await api.get(service, path, schema);
          } catch (error) {
            if (isGone(error)) return undefined;
            throw error;
          }
        },
        async list(service, path, of, query, as = path.split('/').at(-1) ?? '') {
          const all: unknown[] = [];
          let further: Query | undefined = query ?? {};
          for (let page = 0; further !== undefined && page < MOST_PAGES; page++) {
            const request = { method: 'GET', query: further } as const;
            const answer = (await json(service, path, request)) as Record<string, unknown>;
            all.push(...checked(service, Type.Array(Type.Unknown()), answer[as]));
            const next = nextPage(answer, as);
            // Octavia's links leave the filters out.
            further = next && { ...query, ...next };
          }
          return all.map((one) => checked(service, of, one));
        },
        async send(service, method, path, body, schema) {
          const answer = await json(service, path, { method, ...(body !== undefined && { body }) });
          return checked(service, schema ?? Type.Unknown(), answer) as never;
        },
        projectId: async () => (await sessionFor(call)).projectId,
        has: async (service) => (await sessionFor(call)).urls[service] !== undefined,
        async version(service) {
          const url = rootOf(urlIn(await sessionFor(call), service));
          const headers = { accept: 'application/json' };
          const { response, text } = await send(call, service, url, { method: 'GET', headers });
          // "300 Multiple Choices" is a list, too.
          if (!response.ok && response.status !== 300) throw failureOf(service, response, text, false);
          const said = checked(service, Versions, parsed(service, text)).versions;
          const versions = Array.isArray(said) ? said : said.values;
          const current = versions.find(({ status }) => status === 'CURRENT') ?? versions.at(-1);
          return current?.version || (current?.id.replace(/^v/, '') ?? 'unknown');
        },
      };
      return api;
    },
  };
}

function urlIn({ urls }: Session, service: Service): string {
  const url = urls[service];
  if (url === undefined) throw new Unavailable(`the cloud has no ${SERVICES[service].name} in its catalogue`);
  return url;
}

/** Returns an endpoint without its version and what follows that. */
function rootOf(endpoint: string): URL {
  const url = new URL(endpoint);
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const version = parts.findIndex((part) => /^v\d/.test(part));
  const root = version === -1 ? parts : parts.slice(0, version);
  url.pathname = root
    .map((part) => `/${part}`)
    .concat('/')
    .join('');
  return url;
}

async function login(access: CloudAccess, call: Pick<Call, 'log'>): Promise<Session> {
  const begun = performance.now();
  const request = { method: 'POST', headers: { 'content-type': 'application/json' } } as const;
  // Nobody's own signal ends it: others wait for the same token.
  const unhurried = { log: call.log, signal: AbortSignal.timeout(PATIENCE_MS) };
  const body = JSON.stringify({ auth: access.auth });
  const { response, text } = await send(unhurried, 'identity', new URL(`${access.authUrl}/auth/tokens`), {
    ...request,
    body,
  });
  if (!response.ok) throw failureOf('identity', response, text, false);
  const secret = response.headers.get('x-subject-token');
  if (secret === null) throw new Unavailable('Keystone answers without a token');
  const { token } = checked('identity', Token, parsed('identity', text));
  return {
    secret,
    projectId: token.project.id,
    urls: urlsOf(access, token),
    // Only how long it lasts counts: the clocks may differ.
    until: begun + Date.parse(token.expires_at) - Date.parse(token.issued_at) - EARLY_MS,
  };
}

function urlsOf({ authUrl, region, interface: wanted }: CloudAccess, { catalog }: Token): Session['urls'] {
  const regions = new Set(catalog.flatMap(({ endpoints }) => endpoints.map(({ region_id }) => region_id)));
  if (region === undefined && regions.size > 1)
    throw new Unavailable(`clouds.yaml names no region, and the cloud has ${[...regions].join(', ')}`);
  const urls: Session['urls'] = { identity: authUrl };
  for (const [service, { types, path }] of Object.entries(SERVICES)) {
    if (service === 'identity') continue;
    const entry = types.map((type) => catalog.find((one) => one.type === type)).find((one) => one !== undefined);
    const endpoint = entry?.endpoints.find(
      (one) => one.interface === wanted && (region === undefined || one.region_id === region),
    );
    if (!endpoint) continue;
    const root = endpoint.url.endsWith('/') ? endpoint.url.slice(0, -1) : endpoint.url;
    urls[service as Service] = root.endsWith(path) ? root : `${root}${path}`;
  }
  return urls;
}

interface Answer {
  response: Response;
  text: string;
}

/** Sends one request, and says in the log what came of it. */
async function send(
  { log, signal }: Pick<Call, 'log' | 'signal'>,
  service: Service,
  url: URL,
  request: RequestInit & { method: Method },
): Promise<Answer> {
  const changes = request.method !== 'GET';
  const begun = performance.now();
  const late = AbortSignal.timeout(PATIENCE_MS);
  if (!changes) signal.throwIfAborted();
  try {
    const response = await fetch(url, { ...request, signal: changes ? late : AbortSignal.any([signal, late]) });
    const text = await response.text();
    const requestId = response.headers.get('x-openstack-request-id') ?? undefined;
    const ms = Math.round(performance.now() - begun);
    const about = { service: SERVICES[service].name, path: url.pathname, status: response.status, ms, requestId };
    log.debug(about, `${request.method} was answered by OpenStack`);
    return { response, text };
  } catch (error) {
    if (signal.aborted && !changes) throw signal.reason;
    throw unreachable(service, error, changes);
  }
}

function answered(service: Service, { response, text }: Answer, { method }: Request): string {
  if (response.ok) return text;
  throw failureOf(service, response, text, method !== 'GET');
}

function parsed(service: Service, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unavailable(`${SERVICES[service].name} answers something else than JSON`);
  }
}

function checked<S extends TSchema>(service: Service, schema: S, answer: unknown): Static<S> {
  if (Value.Check(schema, answer)) return answer;
  const [first] = Value.Errors(schema, answer);
  const where = first?.instancePath || 'its answer';
  throw new Unavailable(
    `${SERVICES[service].name} answers in another form than documented: ${where} ${first?.message}`,
  );
}

/**
 * Returns what to ask for the next page. Nova, Cinder and Neutron answer with a link, Glance with a path; of both only the question counts, as a
 * service behind a proxy may not know its own address.
 */
function nextPage(answer: Record<string, unknown>, name: string): Query | undefined {
  const links = answer[`${name}_links`] as { rel: string; href: string }[] | undefined;
  const next = links?.find(({ rel }) => rel === 'next')?.href ?? (answer.next as string | undefined);
  return next === undefined ? undefined : Object.fromEntries(new URL(next, 'http://localhost').searchParams);
}

const typeOf = (service: Service, method: Method): string =>
  service === 'image' && method === 'PATCH' ? 'application/openstack-images-v2.1-json-patch' : 'application/json';
