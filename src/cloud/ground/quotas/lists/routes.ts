import { Type } from 'typebox';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { DatedListQuery } from '../../dated-lists/schema.ts';
import { NewQuotaList, QuotaList, QuotaListParams, QuotaLists } from './schema.ts';
import { createQuotaList, deleteQuotaList, getQuotaList, listQuotaLists } from './service.ts';

const BASE = '/tradewind/v1/quota_lists';
const ONE = `${BASE}/:quota_list_id`;
const tags = ['Quotas'];
const access = 'resell';

export function quotaListRoutes(app: Api, on: Platform): void {
  app.get(BASE, {
    config: { access },
    schema: {
      operationId: 'listQuotaLists',
      summary: 'List quota lists',
      description:
        'All that have been in force, are, or will be: the latest first. The platform administrator has all lists; the administrator of a reseller those of the reseller and its clients.',
      tags,
      querystring: DatedListQuery,
      response: { 200: QuotaLists },
    },
    handler: ({ principal, query }) => listQuotaLists(on, principal, query),
  });

  app.post(BASE, {
    config: { access },
    schema: {
      operationId: 'createQuotaList',
      summary: 'Set what accounts may have',
      description:
        'From its time on, the list replaces the one before for the same accounts. What it leaves out is as in the list for the reseller, then as in that for everyone, then as in the catalogue. Limits set for an account by `/cloud/v2` go before all lists. What is there already stays. Only for the platform administrator.',
      tags,
      body: NewQuotaList,
      response: { 201: QuotaList },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await createQuotaList(on, principal, body)),
  });

  app.get(ONE, {
    config: { access },
    schema: {
      operationId: 'getQuotaList',
      summary: 'Get a quota list',
      tags,
      params: QuotaListParams,
      response: { 200: QuotaList },
    },
    handler: ({ principal, params }) => getQuotaList(on, principal, params.quota_list_id),
  });

  app.delete(ONE, {
    config: { access },
    schema: {
      operationId: 'deleteQuotaList',
      summary: 'Delete a quota list that is not in force yet',
      description:
        'What has come into force stays: let another list follow it. Only for the platform administrator.',
      tags,
      params: QuotaListParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await deleteQuotaList(on, principal, params.quota_list_id);
      return reply.code(204).send(null);
    },
  });
}
