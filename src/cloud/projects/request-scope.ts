import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Projects, Scope } from './service.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request works. Set before its handler runs, if its path names a project and a region. */
    scope: Scope;
  }
}

/** Requests to routes that are registered from here on find the project and region that their path names, or get a 404. */
export function findScopes(app: FastifyInstance, projects: Projects): void {
  app.decorateRequest('scope');
  app.addHook('onRoute', (route) => {
    if (!route.url.includes('/:project_id/:region_id')) return;
    // Last, as what a route does itself: a repeated request gets its first answer even when the project is gone.
    route.preHandler = [route.preHandler ?? [], findScope].flat();
  });

  async function findScope(request: FastifyRequest): Promise<void> {
    const params = request.params as { project_id: number; region_id: number };
    request.scope = await projects.scope({
      principal: request.principal,
      requestId: request.id,
      projectId: params.project_id,
      regionId: params.region_id,
    });
  }
}
