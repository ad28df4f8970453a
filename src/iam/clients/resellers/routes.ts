import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { RESELLER_DUTY } from '../../accounts/service.ts';
import * as schema from './schema.ts';
import { createReseller, getReseller, listResellers } from './service.ts';

const BASE = '/tradewind/v1/resellers';
const tags = ['Clients'];
const config = { access: 'resell', platformDuty: RESELLER_DUTY } as const;

export function resellerRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.get(BASE, 'listResellers', 'List resellers', {
    ...config,
    description: 'For the platform administrator.',
    query: schema.ResellerListQuery,
    answer: schema.ResellerList,
    handler: ({ principal, query }) => listResellers(on, principal, query),
  });

  api.post(BASE, 'createReseller', 'Create a reseller', {
    ...config,
    secretAnswer: true,
    description:
      'With an account of its own, an administrator, and an API token that manages its clients. For the platform administrator.',
    body: schema.CreateReseller,
    status: 201,
    answer: schema.NewReseller,
    handler: async ({ principal, body }) => await createReseller(on, principal, body),
  });

  api.get(`${BASE}/:reseller_id`, 'getReseller', 'Get a reseller', {
    ...config,
    description: 'For the platform administrator.',
    params: schema.ResellerParams,
    answer: schema.Reseller,
    handler: ({ principal, params }) => getReseller(on, principal, params.reseller_id),
  });
}
