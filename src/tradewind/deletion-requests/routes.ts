import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { ConfirmDeletion, DeletionRequest, RequestDeletion } from './schema.ts';
import * as requests from './service.ts';

const BASE = '/tradewind/v1/deletion_request';
const tags = ['Clients'];
const access = 'administer';

export function deletionRequestRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access });

  api.get(BASE, 'getDeletionRequest', 'See whether the account asks to be deleted', {
    answer: DeletionRequest,
    handler: ({ principal }) => requests.getDeletionRequest(on, principal),
  });

  api.post(BASE, 'requestDeletion', 'Ask for the deletion of the account', {
    description:
      "Mails those whom the reseller's notification settings of the type `deletion_request` name, and mails a link to whoever asks, to confirm the request. Nothing is deleted by that.",
    body: RequestDeletion,
    status: 201,
    answer: DeletionRequest,
    handler: async ({ principal, body }) => await requests.makeDeletionRequest(on, principal, body),
  });

  api.delete(BASE, 'withdrawDeletionRequest', 'Take back the request to delete the account', {
    description: 'The same receivers get a mail.',
    handler: ({ principal }) => requests.withdrawDeletionRequest(on, principal),
  });

  api.post(`${BASE}/confirmation`, 'confirmDeletionRequest', 'Confirm a request to delete an account', {
    access: 'public',
    description:
      'With the token that was mailed to whoever asked, for two days. Those who were told of the request are told of this, too. Confirming again changes nothing.',
    body: ConfirmDeletion,
    handler: ({ body }) => requests.confirmDeletionRequest(on, body),
  });
}
