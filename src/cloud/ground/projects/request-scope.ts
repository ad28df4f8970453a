import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Platform, Scope } from '../../../platform.ts';
import { findScope } from './service.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Project and region of the request. Set before the handler runs, if the path names a project and a region. */
    scope: Scope;
  }
}

/** For all routes registered after this call: finds the project and region that the path names, or answers 404. */
export function findScopes(app: FastifyInstance, on: Platform): void {
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
