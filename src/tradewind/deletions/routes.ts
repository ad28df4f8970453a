import { deleteProject } from '../../cloud/network/project-changes/service.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import {
  ClientDeletion,
  ClientDeletionRequest,
  DeletedClientParams,
  DeletedProjectParams,
  DeletedResellerParams,
  Deletion,
  deleteClient,
  deleteProjectWithContents,
  deleteReseller,
  ProjectDeletionQuery,
} from './service.ts';

export function deletionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Clients'], params: DeletedClientParams });

  api.post(
    '/tradewind/v1/clients/:client_id/deletion',
    'deleteClient',
    'Delete a client with everything in it',
    {
      access: 'resell',
      secretAnswer: true,
      description:
        'The first answer says what would be deleted, and gives a confirmation. Sent back within ten minutes by the same user, it suspends the account at once, and a task deletes everything in it. What was used stays on record for its invoices, and so does the audit log.',
      body: ClientDeletionRequest,
      answer: ClientDeletion,
      handler: ({ id, principal, params, body }) => deleteClient(on, principal, params.client_id, body, id),
    },
  );

  api.delete(
    '/tradewind/v1/projects/:project_id',
    'deleteProjectWithContents',
    'Delete a project, with everything in it if asked',
    {
      tags: ['Projects'],
      access: 'administer',
      params: DeletedProjectParams,
      description:
        "With `contents=true`, the project takes in nothing new from now on, and the task deletes everything in it. The default project of an account can't be deleted.",
      query: ProjectDeletionQuery,
      answer: Deletion,
      handler: async ({ id, principal, params, query }) => {
        const remove = query.contents ? deleteProjectWithContents : deleteProject;
        return { task_id: await remove(on, principal, params.project_id, id) };
      },
    },
  );

  api.delete('/tradewind/v1/resellers/:reseller_id', 'deleteReseller', 'Delete a reseller', {
    access: 'resell',
    description:
      'Only the platform administrator may. The reseller must have no clients besides its own account, which must be empty and is deleted with it.',
    params: DeletedResellerParams,
    answer: Deletion,
    handler: async ({ id, principal, params }) => ({
      task_id: await deleteReseller(on, principal, params.reseller_id, id),
    }),
  });
}
