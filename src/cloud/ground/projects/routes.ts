import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import { ProjectList, ProjectListQuery, ProjectParams, Project as ProjectSchema } from './schema.ts';
import { getProject, listProjects, presentedProject } from './service.ts';

export function projectRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Projects'] });

  api.get('/cloud/v1/projects', 'listProjects', 'List projects', {
    query: ProjectListQuery,
    answer: ProjectList,
    handler: async ({ principal, query }) => presentedPage(await listProjects(on, principal, query), presentedProject),
  });

  api.get('/cloud/v1/projects/:project_id', 'getProject', 'Get a project', {
    versioned: { table: 'projects', columns: { project_id: 'id' } },
    params: ProjectParams,
    answer: ProjectSchema,
    handler: async ({ principal, params }) => presentedProject(await getProject(on, principal, params.project_id)),
  });
}
