import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Authenticator } from '../iam/identity/service.ts';
import { dryRunNow, onBehalfOf } from '../lib/request-context.ts';
import type { Clock } from '../lib/time.ts';
import type { Tracing } from '../lib/tracing.ts';
import type { RequestMeasures } from '../requests/measures.ts';
import type { RequestLog } from '../requests/request-log.ts';
import { type AccessLog, createAccessLog } from './access-log.ts';
import { authentication, limitStrangers, rateLimits, refuseShutService } from './admission.ts';
import { keepChangingRequests } from './changing-requests.ts';
import { compileSerializer, compileValidator, refuseUnknownQueries } from './compilers.ts';
import { sendError } from './errors.ts';
import * as heads from './heads.ts';
import { acceptJson } from './json-body.ts';
import { answerFaults, type FaultDeps } from './refusals.ts';
import { MAX_PARAM_LENGTH, refusalOfUnknownPaths } from './unknown-paths.ts';

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

const BODY_LIMIT = 1_048_576;
/** Has room for the longest filters and lists of ids in an address, which exceed Node's default. */
const HEADER_LIMIT = 65_536;

export interface ServerDeps extends FaultDeps {
  log: FastifyBaseLogger;
  clock: Clock;
  authenticator: Authenticator;
  nextRequestId: () => string;
  /** Requests that one token, or one address without a token, may make in 10 seconds; 0 for any number. */
  rateLimit: number;
  measures?: RequestMeasures | undefined;
  /** Proxies that are trusted to tell the client's address; none if empty. */
  trustedProxies: readonly string[];
  requestLog: RequestLog;
  /** Logs one line for each request, if given. */
  accessLog?: FastifyBaseLogger | undefined;
  tracing?: Tracing | undefined;
}

/** Creates a server with everything that all requests share, but without routes. */
export function createServer(deps: ServerDeps) {
  const accessLog = deps.accessLog && createAccessLog(deps.accessLog);
  const app = fastify({
    loggerInstance: deps.log,
    // A child logger has a cost for every request, and few write a line. Our lines name their request; the
    // few of the framework don't.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    ...heads.WITHOUT_SNIFFING,
    http: { ...heads.WITHOUT_SNIFFING.http, maxHeaderSize: HEADER_LIMIT },
    trustProxy: deps.trustedProxies.length > 0 && [...deps.trustedProxies],
    genReqId: () => deps.nextRequestId(),
    requestTimeout: 60_000,
    exposeHeadRoutes: false,
    rewriteUrl(request) {
      heads.routeAsGet(request);
      return request.url ?? '';
    },
    frameworkErrors(error, request, reply) {
      heads.nameHead(request.raw);
      accessLog?.(request, reply);
      sendError(error, request, reply);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  answerFaults(app, deps);
  if (deps.tracing) traceRequests(app, deps.tracing);
  acceptJson(app);
  refuseUnknownQueries(app);
  meetRequests(app, deps, accessLog);
  closeConnectionsAtStop(app);
  keepChangingRequests(app, deps.requestLog);
  return app;
}

/**
 * What every request meets before its body is read, in this order. It is one hook, since each has a cost for every
 * request. Hooks of routes come after it.
 */
function meetRequests(app: FastifyInstance, deps: ServerDeps, accessLog: AccessLog | undefined): void {
  const admit = authentication(app, deps.authenticator, limitStrangers(deps.rateLimit, deps.measures));
  const warnOfUnknownProxy = deps.trustedProxies.length === 0 ? heads.warningOfUnknownProxies() : undefined;
  const refuseUnknownPath = refusalOfUnknownPaths(app);
  const limitRate = rateLimits(deps.rateLimit, deps.measures);
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request, reply) => {
    const { config, url } = request.routeOptions;
    heads.nameHead(request.raw);
    // What a dry run reads belongs to its request.
    const inner = dryRunNow() !== undefined;
    if (!inner) accessLog?.(request, reply);
    void reply.header('x-request-id', request.id);
    // Who shows times as "5 minutes ago" goes by the clock that they are from.
    void reply.header('date', deps.clock.now().toUTCString());
    heads.refuseOddHead(request, url);
    warnOfUnknownProxy?.(request);
    await admit(request, config);
    if (request.is404) refuseUnknownPath(request, reply);
    refuseShutService(request);
    if (!inner) await limitRate(request, reply, config);
    heads.refuseEncodedBody(request, reply);
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
