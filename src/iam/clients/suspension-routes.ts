import { Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import { IntegerId } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { Client } from './schema.ts';
import { setClientStatus } from './service.ts';

const ONE = '/tradewind/v1/clients/:client_id';
const tags = ['Clients'];
const params = Type.Object({ client_id: IntegerId('Account') });

export function suspensionRoutes(app: Api, on: Platform): void {
  app.post(`${ONE}/suspend`, {
    config: { access: 'resell' },
    schema: {
      operationId: 'suspendClient',
      summary: 'Suspend a client',
      description:
        'Its API tokens and logins are refused from now on. Its resources stay and cost what they did, and work in progress goes on.',
      tags,
      params,
      response: { 200: Client },
    },
    handler: ({ principal, params }) => setClientStatus(on, principal, params.client_id, 'paused'),
  });

  app.post(`${ONE}/resume`, {
    config: { access: 'resell' },
    schema: {
      operationId: 'resumeClient',
      summary: 'Resume a suspended client',
      description: 'Its API tokens work again. Its users log in anew.',
      tags,
      params,
      response: { 200: Client },
    },
    handler: ({ principal, params }) => setClientStatus(on, principal, params.client_id, 'active'),
  });
}
