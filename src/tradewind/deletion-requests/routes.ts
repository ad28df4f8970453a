import { Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { DeletionRequest, RequestDeletion } from './schema.ts';
import { getDeletionRequest, makeDeletionRequest, withdrawDeletionRequest } from './service.ts';

const BASE = '/tradewind/v1/deletion_request';
const tags = ['Clients'];
const access = 'administer';

export function deletionRequestRoutes(app: Api, on: Platform): void {
  app.get(BASE, {
    config: { access },
    schema: {
      operationId: 'getDeletionRequest',
      summary: 'See whether the account asks to be deleted',
      tags,
      response: { 200: DeletionRequest },
    },
    handler: ({ principal }) => getDeletionRequest(on, principal),
  });

  app.post(BASE, {
    config: { access },
    schema: {
      operationId: 'requestDeletion',
      summary: 'Ask for the deletion of the account',
      description:
        "Mails those whom the reseller's notification settings of the type `deletion_request` name. Nothing is deleted by that.",
      tags,
      body: RequestDeletion,
      response: { 201: DeletionRequest },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await makeDeletionRequest(on, principal, body)),
  });

  app.delete(BASE, {
    config: { access },
    schema: {
      operationId: 'withdrawDeletionRequest',
      summary: 'Take back the request to delete the account',
      description: 'The same receivers get a mail.',
      tags,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal }, reply) => {
      await withdrawDeletionRequest(on, principal);
      return reply.code(204).send(null);
    },
  });
}
