import { randomUUID } from 'node:crypto';
import { prepareTestKit, type TestKitParts } from '../test-kit/index.ts';
import { createDryRunReports } from './cloud/money/dry-runs/service.ts';
import { registerCloudRoutes } from './cloud/routes.ts';
import { overtakenNamed } from './db/database.ts';
import { outageNamed } from './db/outages.ts';
import { consolePage, linkPages } from './http/console-page.ts';
import { type Dialect, dialects } from './http/dialect.ts';
import * as dialectHooks from './http/dialect-hooks.ts';
import { offerDryRuns } from './http/dry-runs.ts';
import { healthRoutes, type Readiness } from './http/health.ts';
import { type Metrics, metricsRoute } from './http/metrics.ts';
import { documentApi } from './http/openapi.ts';
import { referencePage } from './http/reference-page.ts';
import { type Api, createServer, type ServerDeps } from './http/server.ts';
import { consoleSessionRoutes } from './iam/logins/console/routes.ts';
import { registerIamRoutes } from './iam/routes.ts';
import type { Platform } from './platform.ts';
import { aiTaskRoutes } from './streaming/ai-tasks/routes.ts';
import { registerTradewindRoutes } from './tradewind/routes.ts';

interface AppDeps
  extends Pick<ServerDeps, 'accessLog' | 'log' | 'measures' | 'rateLimit' | 'tracing' | 'trustedProxies'> {
  on: Platform;
  readiness: Readiness;
  /** Whether the console is served. */
  console: boolean;
  /** Whether unknown fields are refused at every base address. */
  strict: boolean;
  metrics?: Metrics;
  /** For tests: lets requests fail, and takes everything back. */
  testKit?: TestKitParts | undefined;
}

/** Builds the whole HTTP API without side effects: it doesn't listen until the caller makes it. */
export async function buildApp(deps: AppDeps): Promise<Api> {
  const { on, readiness, strict, metrics, testKit } = deps;
  const app = createServer({
    ...deps,
    clock: on.clock,
    authenticator: on.authenticator,
    nextRequestId: randomUUID,
    requestLog: on.requestLog,
    refusals: on.refusals,
    nameFault: (error) => overtakenNamed(outageNamed(error)),
  });
  offerDryRuns(app, createDryRunReports(on));
  const addTestKit = testKit && prepareTestKit(app, testKit, on);
  if (metrics) metricsRoute(app, metrics);
  healthRoutes(app, readiness);
  referencePage(app, deps);
  linkPages(app, deps);
  if (deps.console) {
    consolePage(app);
    consoleSessionRoutes(app, on);
  }
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
        routes(scope, dialect, on);
      },
      { prefix: dialect.prefix },
    );
  }
  addTestKit?.();
  await app.ready();
  return app;
}

/** Registers every operation of the API under one base address. */
function routes(app: Api, dialect: Dialect, on: Platform): void {
  registerCloudRoutes(app, dialect, on);
  registerIamRoutes(app, on);
  aiTaskRoutes(app, on);
  registerTradewindRoutes(app, on);
}
