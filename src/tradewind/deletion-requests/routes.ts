import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { DeletionRequest, RequestDeletion } from './schema.ts';
import { getDeletionRequest, makeDeletionRequest, withdrawDeletionRequest } from './service.ts';

const BASE = '/tradewind/v1/deletion_request';
const tags = ['Clients'];
const access = 'administer';

export function deletionRequestRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: access });

  api.get(BASE, 'getDeletionRequest', 'See whether the account asks to be deleted', {
    answer: DeletionRequest,
    handler: ({ principal }) => getDeletionRequest(on, principal),
  });

  api.post(BASE, 'requestDeletion', 'Ask for the deletion of the account', {
    description:
      "Mails those whom the reseller's notification settings of the type `deletion_request` name. Nothing is deleted by that.",
    body: RequestDeletion,
    status: 201,
    answer: DeletionRequest,
    handler: async ({ principal, body }) => await makeDeletionRequest(on, principal, body),
  });

  api.delete(BASE, 'withdrawDeletionRequest', 'Take back the request to delete the account', {
    description: 'The same receivers get a mail.',
    handler: ({ principal }) => withdrawDeletionRequest(on, principal),
  });
}
