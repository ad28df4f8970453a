import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Type } from 'typebox';
import type { Authenticator } from '../iam/identity/service.ts';
import { dryRunNow } from '../lib/dry-run.ts';
import { ForbiddenError, InvalidError, TooManyRequestsError, UnauthenticatedError } from '../lib/errors.ts';
import { onBehalfOf } from '../lib/request-context.ts';
import type { Tracing } from '../lib/tracing.ts';
import type { Versioned } from '../lib/versioned.ts';
import type { RequestMeasures } from '../requests/measures.ts';
import type { Refusals } from '../requests/refusals.ts';
import type { RequestLog } from '../requests/request-log.ts';
import type { AccessLog } from './access-log.ts';
import { refuseShutService } from './areas.ts';
import { type Admission, authentication } from './authentication.ts';
import { changesSomething, keepChangingRequests } from './changing-requests.ts';
import { serializerCompiler, validatorCompiler } from './compilers.ts';
import { HttpError, sendError } from './errors.ts';
import { lookAgainAfterWaits } from './gone-signal.ts';
import { acceptJson } from './json-body.ts';
import { limitStrangers, rateLimits } from './rate-limits.ts';
import { slowingRefusals } from './slow-refusals.ts';
import { emptyPartIn, MAX_PARAM_LENGTH, refusalOfUnknownPaths } from './unknown-paths.ts';

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

/** Options of a server. */
export const WITHOUT_SNIFFING = { http: { ServerResponse: Answer }, clientErrorHandler };

/** Refuses a body that would have to be decoded first, and says what is accepted (RFC 9110, 8.4 and 15.5.16). */
export function refuseEncodedBody({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding']?.trim() ?? '';
  const empty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (empty || encoding === '' || encoding.toLowerCase() === 'identity') return;
  void reply.header('accept-encoding', 'identity');
  throw new HttpError(
    415,
    `The body must be sent without Content-Encoding, not in ${encoding.slice(0, 100)}`,
  );
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

/** Returns a function that has refused credentials and rights recorded. Requests for a change record them themselves. */
export function noteRefusals(refusals: Refusals): (error: Error, request: FastifyRequest) => void {
  return (error, request) => {
    if (request.routeOptions.config.access === 'public' || dryRunNow()) return;
    if (error instanceof UnauthenticatedError) {
      if (!error.given) return;
      const { refused } = error;
      refusals.note({
        ...about(request),
        status: 401,
        whose: refused,
        reason: refused?.reason ?? 'unknown',
      });
    } else if (
      error instanceof ForbiddenError &&
      request.principal &&
      !changesSomething(request.method, request.routeOptions.config)
    ) {
      refusals.note({ ...about(request), status: 403, whose: request.principal, reason: 'no right' });
    }
  };
}

function about(request: FastifyRequest) {
  const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string };
  return {
    id: request.id,
    operation: operationId ?? '',
    method: request.method,
    path: request.url.split('?', 1)[0] ?? '',
    ip: request.ip,
    userAgent: request.headers['user-agent'],
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The resource at this address. Reads return its version as `ETag`; changes of it, and of anything below it, may
     * name a version in `If-Match`. One route of each address declares this, usually the one that reads it.
     */
    versioned?: Versioned;
  }
  interface FastifyInstance {
    /** Returns the resource at a route's address, or else the nearest one above it. */
    versionedAt(route: string): Versioned | undefined;
  }
}

export function knowVersionedRoutes(app: FastifyInstance): void {
  const resources = new Map<string, Versioned>();
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.versioned) resources.set(named(url).join('/'), config.versioned);
  });
  app.decorate('versionedAt', (route) => {
    for (const parts = named(route); parts.length > 0; parts.pop()) {
      const found = resources.get(parts.join('/'));
      if (found) return found;
    }
    return undefined;
  });
}

/** Splits a route into parts. The pattern in brackets after a parameter is not part of its name. */
function named(route: string): string[] {
  return route.split('/').map((part) => part.split('(', 1)[0] ?? '');
}

/** Traces every request but those of probes. The tasks that a request starts belong to its trace. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, id, headers, principal } = request;
    const { url = 'unknown', schema } = routeOptions;
    if (schema?.hide) return done();
    const route = request.is404 ? 'unknown' : url;
    const endedAt = Date.now();
    const { statusCode } = reply;
    tracing.record({
      name: `${method} ${route}`,
      kind: 'server',
      request: id,
      id,
      begunAt: endedAt - reply.elapsedTime,
      endedAt,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': statusCode,
        'tradewind.operation': schema?.operationId ?? '',
        ...(principal && { 'tradewind.client_id': principal.clientId }),
      },
      error: statusCode < 500 ? undefined : `answered ${statusCode}`,
      calledBy: headers.traceparent?.toString(),
    });
    done();
  });
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

const NoQuery = Type.Object({}, { additionalProperties: false });

/** Makes operations without query parameters refuse unknown ones by name, like all others. */
export function refuseUnknownQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema && !route.schema.querystring) route.schema = { ...route.schema, querystring: NoQuery };
  });
}

const BODY_LIMIT = 1_048_576;
/** Has room for the longest filters and lists of ids in an address, which exceed Node's default. */
const HEADER_LIMIT = 65_536;

interface ServerDeps {
  log: FastifyBaseLogger;
  authenticator: Authenticator;
  nextRequestId: () => string;
  /** Requests that one token, or one address without a token, may make in 10 seconds; 0 for any number. */
  rateLimit: number;
  measures?: RequestMeasures | undefined;
  /** Proxies that are trusted to tell the client's address; none if empty. */
  trustedProxies: readonly string[];
  requestLog: RequestLog;
  refusals: Refusals;
  accessLog?: AccessLog | undefined;
  tracing?: Tracing | undefined;
  /** Turns errors of lower layers into domain errors, if there is one for them. */
  nameFault: (error: Error) => Error;
}

/** Creates a server with everything that all requests share, but without routes. */
export function createServer(deps: ServerDeps) {
  const app = fastify({
    loggerInstance: deps.log,
    // A child logger has a cost for every request, and few write a line. Our lines name their request; the
    // few of the framework don't.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    ...WITHOUT_SNIFFING,
    http: { ...WITHOUT_SNIFFING.http, maxHeaderSize: HEADER_LIMIT },
    trustProxy: deps.trustedProxies.length > 0 && [...deps.trustedProxies],
    genReqId: () => deps.nextRequestId(),
    requestTimeout: 60_000,
    exposeHeadRoutes: false,
    rewriteUrl(request) {
      routeAsGet(request);
      return request.url ?? '';
    },
    frameworkErrors(error, request, reply) {
      nameHead(request.raw);
      deps.accessLog?.(request, reply);
      sendError(error, request, reply);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(validatorCompiler());
  app.setSerializerCompiler(serializerCompiler());
  const noteRefusal = noteRefusals(deps.refusals);
  const slowDown = slowingRefusals(app);
  app.setErrorHandler<Error>((error, request, reply) => {
    noteRefusal(error, request);
    const named = deps.nameFault(error);
    const send = () => sendError(named, request, reply);
    if (!(named instanceof TooManyRequestsError)) send();
    // The framework takes a promise for an answer of its own.
    else void slowDown(request, reply).then(send);
  });
  if (deps.tracing) traceRequests(app, deps.tracing);
  acceptJson(app);
  refuseUnknownQueries(app);
  const admission = authentication(deps.authenticator, limitStrangers(deps.rateLimit, deps.measures));
  meetRequests(app, deps, admission);
  closeConnectionsAtStop(app);
  knowVersionedRoutes(app);
  keepChangingRequests(app, deps.requestLog, admission);
  lookAgainAfterWaits(app, admission);
  return app;
}

/**
 * What every request meets before its body is read, in this order. It is one hook, since each has a cost for every
 * request. Hooks of routes come after it.
 */
function meetRequests(app: FastifyInstance, deps: ServerDeps, { admit }: Admission): void {
  const { accessLog } = deps;
  const warnOfUnknownProxy = deps.trustedProxies.length === 0 ? warningOfUnknownProxies() : undefined;
  const refuseUnknownPath = refusalOfUnknownPaths(app);
  const limitRate = rateLimits(deps.rateLimit, deps.measures);
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request, reply) => {
    const { config, url } = request.routeOptions;
    nameHead(request.raw);
    // What a dry run reads belongs to its request.
    const inner = dryRunNow() !== undefined;
    if (!inner) accessLog?.(request, reply);
    void reply.header('x-request-id', request.id);
    refuseOddHead(request, url);
    warnOfUnknownProxy?.(request);
    await admit(request, config);
    refuseUnknownPath(request, reply);
    refuseShutService(request);
    if (!inner) await limitRate(request, reply, config);
    refuseEncodedBody(request, reply);
    if (config.secretAnswer) void reply.header('cache-control', 'no-store');
  });
  // Not earlier: what comes with the body has no account.
  app.addHook('preHandler', ({ principal, changing }, _reply, done) => {
    if (principal) onBehalfOf(principal.clientId, done, changing);
    else done();
  });
}

/** Closes connections after their answer: open ones would keep the server from stopping. */
function closeConnectionsAtStop(app: FastifyInstance): void {
  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping) void reply.header('connection', 'close');
    done(null, payload);
  });
}

export type Api = ReturnType<typeof createServer>;
