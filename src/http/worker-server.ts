import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { compileSerializer, compileValidator } from './compilers.ts';
import { sendError } from './errors.ts';
import { WITHOUT_SNIFFING } from './heads.ts';
import { healthRoutes, type Readiness } from './health.ts';
import { type Metrics, metricsRoute } from './metrics.ts';
import type { Api } from './server.ts';
import { refusalOfUnknownPaths } from './unknown-paths.ts';

/** Creates the server of a process without the API: health and metrics. */
export function createWorkerServer(deps: { log: FastifyBaseLogger; readiness: Readiness; metrics: Metrics }): Api {
  const app = fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    ...WITHOUT_SNIFFING,
    forceCloseConnections: true,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.setErrorHandler<Error>(sendError);
  const refuseUnknownPath = refusalOfUnknownPaths(app);
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) refuseUnknownPath(request, reply);
  });
  metricsRoute(app, deps.metrics);
  healthRoutes(app, deps.readiness);
  return app;
}
