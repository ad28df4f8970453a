import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import {
  CreateReseller,
  NewReseller,
  ResellerList,
  ResellerListQuery,
  ResellerParams,
  Reseller as ResellerSchema,
} from './schema.ts';
import { createReseller, getReseller, listResellers } from './service.ts';

const BASE = '/tradewind/v1/resellers';
const tags = ['Clients'];
/** The service asks for more: the rights of the platform. */
const config = { access: 'resell' } as const;

export function resellerRoutes(app: Api, on: Platform): void {
  app.get(BASE, {
    config,
    schema: {
      operationId: 'listResellers',
      summary: 'List resellers',
      description: 'For the platform administrator.',
      tags,
      querystring: ResellerListQuery,
      response: { 200: ResellerList },
    },
    handler: ({ principal, query }) => listResellers(on, principal, query),
  });

  app.post(BASE, {
    config: { ...config, secretAnswer: true },
    schema: {
      operationId: 'createReseller',
      summary: 'Create a reseller',
      description:
        'With an account of its own, an administrator, and an API token that manages its clients. For the platform administrator.',
      tags,
      body: CreateReseller,
      response: { 201: NewReseller },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await createReseller(on, principal, body)),
  });

  app.get(`${BASE}/:reseller_id`, {
    config,
    schema: {
      operationId: 'getReseller',
      summary: 'Get a reseller',
      description: 'For the platform administrator.',
      tags,
      params: ResellerParams,
      response: { 200: ResellerSchema },
    },
    handler: ({ principal, params }) => getReseller(on, principal, params.reseller_id),
  });
}
