import type { Api } from '../../http/server.ts';
import { isoSeconds } from '../../lib/timestamps.ts';
import {
  type Project,
  ProjectList,
  ProjectListQuery,
  ProjectParams,
  Project as ProjectSchema,
} from './schema.ts';
import type { Projects } from './service.ts';
import type { ProjectRow } from './store.ts';

export function projectRoutes(app: Api, { projects }: { projects: Projects }): void {
  app.get('/cloud/v1/projects', {
    config: { access: 'read' },
    schema: {
      operationId: 'listProjects',
      summary: 'List projects',
      tags: ['Projects'],
      querystring: ProjectListQuery,
      response: { 200: ProjectList },
    },
    handler: async ({ principal, query }) => {
      const { count, rows } = await projects.list(principal, query);
      return { count, results: rows.map(presented) };
    },
  });

  app.get('/cloud/v1/projects/:project_id', {
    config: { access: 'read' },
    schema: {
      operationId: 'getProject',
      summary: 'Get a project',
      tags: ['Projects'],
      params: ProjectParams,
      response: { 200: ProjectSchema },
    },
    handler: async ({ principal, params }) => presented(await projects.project(principal, params.project_id)),
  });
}

function presented(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    client_id: row.client_id,
    is_default: row.is_default,
    state: row.deleted_at ? 'DELETED' : 'ACTIVE',
    task_id: null,
    created_at: isoSeconds(row.created_at),
    deleted_at: row.deleted_at && isoSeconds(row.deleted_at),
  };
}
