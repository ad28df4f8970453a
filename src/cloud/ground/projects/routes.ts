import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import { presentedProject } from './presenter.ts';
import { ProjectList, ProjectListQuery, ProjectParams, Project as ProjectSchema } from './schema.ts';
import { getProject, listProjects } from './service.ts';

export function projectRoutes(app: Api, on: Platform): void {
  app.get('/cloud/v1/projects', {
    config: { access: 'read' },
    schema: {
      operationId: 'listProjects',
      summary: 'List projects',
      tags: ['Projects'],
      querystring: ProjectListQuery,
      response: { 200: ProjectList },
    },
    handler: async ({ principal, query }) =>
      presentedPage(await listProjects(on, principal, query), presentedProject),
  });

  app.get('/cloud/v1/projects/:project_id', {
    config: { access: 'read', versioned: { table: 'projects', columns: { project_id: 'id' } } },
    schema: {
      operationId: 'getProject',
      summary: 'Get a project',
      tags: ['Projects'],
      params: ProjectParams,
      response: { 200: ProjectSchema },
    },
    handler: async ({ principal, params }) =>
      presentedProject(await getProject(on, principal, params.project_id)),
  });
}
