import { deleteProject } from '../../cloud/network/project-changes/service.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import {
  ClientDeletion,
  ClientDeletionRequest,
  DeletedClientParams,
  DeletedProjectParams,
  DeletedResellerParams,
  Deletion,
  ProjectDeletionQuery,
} from './schema.ts';
import { deleteClient, deleteReseller, emptyProject } from './service.ts';

export function deletionRoutes(app: Api, on: Platform): void {
  app.post('/tradewind/v1/clients/:client_id/deletion', {
    config: { access: 'resell', secretAnswer: true },
    schema: {
      operationId: 'deleteClient',
      summary: 'Delete a client with everything in it',
      description:
        'The first answer says what would be deleted, and gives a confirmation. Sent back within ten minutes by the same user, it suspends the account at once, and a task deletes everything in it. What was used stays on record for its invoices, and so does the audit log.',
      tags: ['Clients'],
      params: DeletedClientParams,
      body: ClientDeletionRequest,
      response: { 200: ClientDeletion },
    },
    handler: ({ id, principal, params, body }) => deleteClient(on, principal, params.client_id, body, id),
  });

  app.delete('/tradewind/v1/projects/:project_id', {
    config: { access: 'administer' },
    schema: {
      operationId: 'deleteProjectWithContents',
      summary: 'Delete a project, with everything in it if asked',
      description:
        "With `contents=true`, the project takes in nothing new from now on, and the task deletes everything in it. The default project of an account can't be deleted.",
      tags: ['Projects'],
      params: DeletedProjectParams,
      querystring: ProjectDeletionQuery,
      response: { 200: Deletion },
    },
    handler: async ({ id, principal, params, query }) => {
      const remove = query.contents ? emptyProject : deleteProject;
      return { task_id: await remove(on, principal, params.project_id, id) };
    },
  });

  app.delete('/tradewind/v1/resellers/:reseller_id', {
    config: { access: 'resell' },
    schema: {
      operationId: 'deleteReseller',
      summary: 'Delete a reseller',
      description:
        'Only the platform administrator may. The reseller must have no clients besides its own account, which must be empty and is deleted with it.',
      tags: ['Clients'],
      params: DeletedResellerParams,
      response: { 200: Deletion },
    },
    handler: async ({ id, principal, params }) => ({
      task_id: await deleteReseller(on, principal, params.reseller_id, id),
    }),
  });
}
