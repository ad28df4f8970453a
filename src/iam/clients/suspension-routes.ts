import { Type } from 'typebox';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { IntegerId } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { Client } from './schema.ts';
import { setClientStatus } from './service.ts';

const ONE = '/tradewind/v1/clients/:client_id';
const tags = ['Clients'];
const params = Type.Object({ client_id: IntegerId('Account') });

export function suspensionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: params, access: 'resell' });

  api.post(`${ONE}/suspend`, 'suspendClient', 'Suspend a client', {
    description:
      'Its API tokens and logins are refused from now on. Its resources stay and cost what they did, and work in progress goes on.',
    answer: Client,
    handler: ({ principal, params }) => setClientStatus(on, principal, params.client_id, 'paused'),
  });

  api.post(`${ONE}/resume`, 'resumeClient', 'Resume a suspended client', {
    description: 'Its API tokens work again. Its users log in anew.',
    answer: Client,
    handler: ({ principal, params }) => setClientStatus(on, principal, params.client_id, 'active'),
  });
}
