import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Authenticator } from '../iam/identity/service.ts';
import { dryRunNow } from '../lib/dry-run.ts';
import { TooManyRequestsError } from '../lib/errors.ts';
import { onBehalfOf } from '../lib/request-context.ts';
import type { Tracing } from '../lib/tracing.ts';
import type { RequestMeasures } from '../requests/measures.ts';
import type { Refusals } from '../requests/refusals.ts';
import type { RequestLog } from '../requests/request-log.ts';
import type { AccessLog } from './access-log.ts';
import { type Admission, authentication } from './authentication.ts';
import { keepChangingRequests } from './changing-requests.ts';
import { serializerCompiler, validatorCompiler } from './compilers.ts';
import { refuseEncodedBody } from './encoded-bodies.ts';
import { sendError } from './errors.ts';
import { lookAgainAfterWaits } from './gone-signal.ts';
import { nameHead, routeAsGet } from './head-requests.ts';
import { acceptJson } from './json-body.ts';
import { WITHOUT_SNIFFING } from './no-sniffing.ts';
import { refuseOddHead } from './odd-heads.ts';
import { limitStrangers, rateLimits } from './rate-limits.ts';
import { noteRefusals } from './refusals.ts';
import { knowVersionedRoutes } from './resource-of-route.ts';
import { refuseShutService } from './shut-services.ts';
import { slowingRefusals } from './slow-refusals.ts';
import { traceRequests } from './traces.ts';
import { MAX_PARAM_LENGTH, refusalOfUnknownPaths } from './unknown-paths.ts';
import { warningOfUnknownProxies } from './unknown-proxies.ts';
import { refuseUnknownQueries } from './unknown-queries.ts';

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
