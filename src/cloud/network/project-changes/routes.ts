import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import * as projectsSchema from '../../ground/projects/schema.ts';
import { presentedProject } from '../../ground/projects/service.ts';
import { createProject, deleteProject, updateProject } from './service.ts';

const BASE = '/cloud/v1/projects';
const tags = ['Projects'];

export function projectChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: projectsSchema.ProjectParams, access: 'administer' });

  api.post(BASE, 'createProject', 'Create a project', {
    description: 'The project gets a default network and a default security group in every region.',
    body: projectsSchema.CreateProjectSchema,
    status: 201,
    answer: projectsSchema.Project,
    handler: async ({ principal, body }) => {
      const made = await createProject(on, principal, body);
      return presentedProject(made);
    },
  });

  api.patch(`${BASE}/:project_id`, 'updateProject', 'Update a project', {
    description: "Omitted fields don't change. `description: null` removes the description.",
    body: projectsSchema.UpdateProjectSchema,
    answer: projectsSchema.Project,
    handler: async ({ principal, params, body }) =>
      presentedProject(await updateProject(on, principal, params.project_id, body)),
  });

  api.delete(`${BASE}/:project_id`, 'deleteProject', 'Delete a project', {
    description:
      'The project must be empty, except for its default networks and security groups, which are deleted with it. ' +
      "The default project of an account can't be deleted.",
    task: ({ id, principal, params }) => deleteProject(on, principal, params.project_id, id),
  });
}
