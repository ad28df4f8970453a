import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { registerComputeRoutes } from './cloud/compute/routes.ts';
import { findScopes } from './cloud/ground/projects/request-scope.ts';
import { registerGroundRoutes } from './cloud/ground/routes.ts';
import { registerKubernetesRoutes } from './cloud/kubernetes/routes.ts';
import { registerLoadBalancingRoutes } from './cloud/load-balancing/routes.ts';
import { createDryRunReports } from './cloud/money/dry-runs/service.ts';
import { registerMoneyRoutes } from './cloud/money/routes.ts';
import { registerNetworkRoutes } from './cloud/network/routes.ts';
import { registerStorageRoutes } from './cloud/storage/routes.ts';
import { overtakenNamed } from './db/database.ts';
import { outageNamed } from './db/outages.ts';
import { createAccessLog } from './http/access-log.ts';
import { type Dialect, dialects } from './http/dialect.ts';
import * as dialectHooks from './http/dialect-hooks.ts';
import { offerDryRuns } from './http/dry-runs.ts';
import { healthRoutes, type Readiness } from './http/health.ts';
import { type Metrics, metricsRoute } from './http/metrics.ts';
import { documentApi } from './http/openapi.ts';
import { referencePage } from './http/reference-page.ts';
import { type Api, createServer } from './http/server.ts';
import { registerIamRoutes } from './iam/routes.ts';
import type { Tracing } from './lib/tracing.ts';
import type { Platform } from './platform.ts';
import type { RequestMeasures } from './requests/measures.ts';
import { aiTaskRoutes } from './streaming/ai-tasks/routes.ts';
import { registerTradewindRoutes } from './tradewind/routes.ts';
import type { TestKitParts } from './tradewind/test-kit/kit.ts';
import { keepRequests } from './tradewind/test-kit/requests.ts';
import { failRequests, isOfTestKit, testKitRoutes } from './tradewind/test-kit/routes.ts';

/** Builds the whole HTTP API without side effects: it doesn't listen until the caller makes it. */
export async function buildApp(deps: {
  on: Platform;
  log: FastifyBaseLogger;
  readiness: Readiness;
  rateLimit: number;
  /** Whether unknown fields are refused at every base address. */
  strict: boolean;
  trustedProxies: readonly string[];
  metrics?: Metrics;
  measures?: RequestMeasures;
  tracing?: Tracing | undefined;
  /** For tests: lets requests fail, and takes everything back. */
  testKit?: TestKitParts;
  /** Logs one line for each request, if given. */
  accessLog?: FastifyBaseLogger;
}): Promise<Api> {
  const {
    on,
    log,
    readiness,
    rateLimit,
    strict,
    trustedProxies,
    metrics,
    measures,
    tracing,
    accessLog,
    testKit,
  } = deps;
  const app = createServer({
    log,
    authenticator: on.authenticator,
    nextRequestId: randomUUID,
    rateLimit,
    measures,
    tracing,
    trustedProxies,
    requestLog: on.requestLog,
    refusals: on.refusals,
    accessLog: accessLog && createAccessLog(accessLog),
    nameFault: (error) => overtakenNamed(outageNamed(error)),
  });
  offerDryRuns(app, createDryRunReports(on));
  const requests = testKit && keepRequests(app, isOfTestKit);
  const operations = testKit && failRequests(app, testKit.kit.rules, isOfTestKit);
  if (metrics) metricsRoute(app, metrics);
  healthRoutes(app, readiness);
  referencePage(app);
  for (const dialect of dialects) {
    await app.register(
      async (scope) => {
        if (dialect.legacy) {
          // Hooks of routes run in the opposite order: a parameter without a value is absent by any name.
          dialectHooks.knowOlderNames(scope);
          dialectHooks.takeEmptyAsAbsent(scope);
        } else {
          dialectHooks.leaveLegacyOut(scope);
        }
        if (dialect.nulls) dialectHooks.keepNulls(scope);
        else dialectHooks.answerWithoutNulls(scope);
        if (dialect.openBodies) dialectHooks.ignoreUnknownFields(scope, { strict });
        await documentApi(scope, dialect);
        findScopes(scope, on);
        routes(scope, dialect, on);
      },
      { prefix: dialect.prefix },
    );
  }
  if (testKit && requests && operations) testKitRoutes(app, { ...testKit, requests, operations });
  await app.ready();
  return app;
}

/** Registers every operation of the API under one base address. */
function routes(app: Api, dialect: Dialect, on: Platform): void {
  registerGroundRoutes(app, dialect, on);
  registerNetworkRoutes(app, dialect, on);
  registerStorageRoutes(app, dialect, on);
  registerComputeRoutes(app, dialect, on);
  registerLoadBalancingRoutes(app, dialect, on);
  registerKubernetesRoutes(app, dialect, on);
  registerMoneyRoutes(app, on);
  registerIamRoutes(app, on);
  aiTaskRoutes(app, on);
  registerTradewindRoutes(app, on);
}
