import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Dialect } from '../http/dialect.ts';
import type { Api } from '../http/server.ts';
import type { Platform, Scope } from '../platform.ts';
import { registerComputeRoutes } from './compute/routes.ts';
import { findScope } from './ground/projects/service.ts';
import { registerGroundRoutes } from './ground/routes.ts';
import { registerKubernetesRoutes } from './kubernetes/routes.ts';
import { registerLoadBalancingRoutes } from './load-balancing/routes.ts';
import { registerMoneyRoutes } from './money/routes.ts';
import { registerNetworkRoutes } from './network/routes.ts';
import { registerStorageRoutes } from './storage/routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Project and region of the request. Set before the handler runs, if the path names a project and a region. */
    scope: Scope;
  }
}

/** Registers the operations of all wings under one base address, from the bottom up. */
export function registerCloudRoutes(app: Api, dialect: Dialect, on: Platform): void {
  findScopes(app, on);
  registerGroundRoutes(app, dialect, on);
  registerNetworkRoutes(app, dialect, on);
  registerStorageRoutes(app, dialect, on);
  registerComputeRoutes(app, dialect, on);
  registerLoadBalancingRoutes(app, dialect, on);
  registerKubernetesRoutes(app, dialect, on);
  registerMoneyRoutes(app, on);
}

/** For all routes registered after this call: finds the project and region that the path names, or answers 404. */
function findScopes(app: FastifyInstance, on: Platform): void {
  app.decorateRequest('scope');
  app.addHook('onRoute', (route) => {
    if (!route.url.includes('/:project_id/:region_id')) return;
    // Runs last, like the handler itself: a repeated request gets its first answer even if the project is gone by now.
    route.preHandler = [route.preHandler ?? [], setScope].flat();
  });

  async function setScope(request: FastifyRequest): Promise<void> {
    const params = request.params as { project_id: number; region_id: number };
    request.scope = await findScope(on, {
      principal: request.principal,
      requestId: request.id,
      projectId: params.project_id,
      regionId: params.region_id,
    });
  }
}
