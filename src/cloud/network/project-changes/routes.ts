import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { presentedProject } from '../../ground/projects/presenter.ts';
import {
  CreateProjectSchema,
  ProjectParams,
  Project as ProjectSchema,
  UpdateProjectSchema,
} from '../../ground/projects/schema.ts';
import { createProject, deleteProject, updateProject } from './service.ts';

const BASE = '/cloud/v1/projects';
const tags = ['Projects'];

export function projectChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'administer' },
    schema: {
      operationId: 'createProject',
      summary: 'Create a project',
      description: 'The project gets a default network and a default security group in every region.',
      tags,
      body: CreateProjectSchema,
      response: { 201: ProjectSchema },
    },
    async handler({ principal, body }, reply) {
      const made = await createProject(on, principal, body);
      return reply.code(201).send(presentedProject(made));
    },
  });

  app.patch(`${BASE}/:project_id`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'updateProject',
      summary: 'Update a project',
      description: "Omitted fields don't change. `description: null` removes the description.",
      tags,
      params: ProjectParams,
      body: UpdateProjectSchema,
      response: { 200: ProjectSchema },
    },
    handler: async ({ principal, params, body }) =>
      presentedProject(await updateProject(on, principal, params.project_id, body)),
  });

  app.delete(`${BASE}/:project_id`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'deleteProject',
      summary: 'Delete a project',
      description:
        'The project must be empty, except for its default networks and security groups, which are deleted with it. ' +
        "The default project of an account can't be deleted.",
      tags,
      params: ProjectParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ id, principal, params }) =>
      dialect.tasks([await deleteProject(on, principal, params.project_id, id)]),
  });
}
