import type { Api } from '../../http/server.ts';
import { Account, CreateClient, CreatedClient } from './schema.ts';
import type { Clients } from './service.ts';

const tags = ['Clients'];

export function clientRoutes(app: Api, { clients }: { clients: Clients }): void {
  app.get('/iam/clients/me', {
    config: { access: 'read' },
    schema: {
      operationId: 'getMyAccount',
      summary: "Get the token's own account",
      tags,
      response: { 200: Account },
    },
    handler: ({ principal }) => clients.me(principal),
  });

  app.post('/iam/clients/create', {
    config: { access: 'resell' },
    schema: {
      operationId: 'createClient',
      summary: 'Create a client',
      description:
        "A client of the caller's reseller, with an administrator and a default project. The reseller can make it an API token.",
      tags,
      body: CreateClient,
      response: { 201: CreatedClient },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await clients.create(principal, body)),
  });
}
