import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from './cloud/catalog/catalog.ts';
import { projectRoutes } from './cloud/projects/routes.ts';
import { createProjects } from './cloud/projects/service.ts';
import { securityGroupRoutes } from './cloud/security-groups/routes.ts';
import { createSecurityGroups } from './cloud/security-groups/service.ts';
import { taskRoutes } from './cloud/tasks/routes.ts';
import { createTasks } from './cloud/tasks/service.ts';
import type { ChangeFeed } from './db/changes.ts';
import type { Database } from './db/database.ts';
import { type Dialect, dialects } from './http/dialect.ts';
import { healthRoutes, type Readiness } from './http/health.ts';
import { documentApi } from './http/openapi.ts';
import { type Api, createServer } from './http/server.ts';
import { createAuthenticator } from './iam/identity/authenticate.ts';
import type { Clock } from './lib/clock.ts';
import type { TaskQueue } from './workflows/task-queue.ts';

/** What the API is built on; everything here lives longer than one request. */
export interface AppDependencies {
  database: Database;
  changes: ChangeFeed;
  catalog: Catalog;
  queue: TaskQueue;
  clock: Clock;
  log: FastifyBaseLogger;
  readiness: Readiness;
}

/** Builds the whole API without side effects: nothing listens and nothing runs until the caller says so. */
export async function buildApp(deps: AppDependencies): Promise<Api> {
  const authenticator = createAuthenticator(deps);
  const services = createServices(deps);
  const app = createServer({ log: deps.log, authenticator, nextRequestId: randomUUID });
  healthRoutes(app, deps.readiness);
  for (const dialect of dialects) {
    await app.register(
      async (scope) => {
        await documentApi(scope, dialect);
        routes(scope as unknown as Api, dialect, services);
      },
      { prefix: dialect.prefix },
    );
  }
  await app.ready();
  return app;
}

function createServices(deps: AppDependencies) {
  const projects = createProjects(deps);
  const tasks = createTasks(deps);
  const securityGroups = createSecurityGroups({ ...deps, instances: { portsOf: async () => new Map() } });
  return { projects, tasks, securityGroups };
}
type Services = ReturnType<typeof createServices>;

/** Every operation of the API, under one base address. */
function routes(app: Api, dialect: Dialect, services: Services): void {
  taskRoutes(app, services);
  projectRoutes(app, services);
  securityGroupRoutes(app, dialect, services);
}
