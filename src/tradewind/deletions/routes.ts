import { deleteProject } from '../../cloud/network/project-changes/service.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { RESELLER_DUTY } from '../../iam/accounts/service.ts';
import type { Platform } from '../../platform.ts';
import * as deletions from './service.ts';

export function deletionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Clients'], params: deletions.DeletedClientParams });

  api.post('/tradewind/v1/clients/:client_id/deletion', 'deleteClient', 'Delete a client with everything in it', {
    access: 'resell',
    secretAnswer: true,
    description:
      'The first answer says what would be deleted, and gives a confirmation. Sent back within ten minutes by the same user, it suspends the account at once, and a task deletes everything in it. What was used stays on record for its invoices, and so does the audit log.',
    body: deletions.ClientDeletionRequest,
    answer: deletions.ClientDeletion,
    handler: ({ id, principal, params, body }) => deletions.deleteClient(on, principal, params.client_id, body, id),
  });

  api.delete(
    '/tradewind/v1/projects/:project_id',
    'deleteProjectWithContents',
    'Delete a project, with everything in it if asked',
    {
      tags: ['Projects'],
      access: 'administer',
      params: deletions.DeletedProjectParams,
      description:
        "With `contents=true`, the project takes in nothing new from now on, and the task deletes everything in it. The default project of an account can't be deleted.",
      query: deletions.ProjectDeletionQuery,
      answer: deletions.Deletion,
      handler: async ({ id, principal, params, query }) => {
        const remove = query.contents ? deletions.deleteProjectWithContents : deleteProject;
        return { task_id: await remove(on, principal, params.project_id, id) };
      },
    },
  );

  api.delete('/tradewind/v1/resellers/:reseller_id', 'deleteReseller', 'Delete a reseller', {
    access: 'resell',
    platformDuty: RESELLER_DUTY,
    description:
      'Only the platform administrator may. The reseller must have no clients besides its own account, which must be empty and is deleted with it.',
    params: deletions.DeletedResellerParams,
    answer: deletions.Deletion,
    handler: async ({ id, principal, params }) => ({
      task_id: await deletions.deleteReseller(on, principal, params.reseller_id, id),
    }),
  });
}
