import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { DatedListQuery } from '../../dated-lists/schema.ts';
import { QUOTA_DUTY } from '../service.ts';
import { NewQuotaList, QuotaList, QuotaListParams, QuotaLists } from './schema.ts';
import { createQuotaList, deleteQuotaList, getQuotaList, listQuotaLists } from './service.ts';

const BASE = '/tradewind/v1/quota_lists';
const ONE = `${BASE}/:quota_list_id`;
const tags = ['Quotas'];
const access = 'resell';

export function quotaListRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: access });

  api.get(BASE, 'listQuotaLists', 'List quota lists', {
    description:
      'All that have been in force, are, or will be: the latest first. The platform administrator has all lists; the administrator of a reseller those of the reseller and its clients.',
    query: DatedListQuery,
    answer: QuotaLists,
    handler: ({ principal, query }) => listQuotaLists(on, principal, query),
  });

  api.post(BASE, 'createQuotaList', 'Set what accounts may have', {
    platformDuty: QUOTA_DUTY,
    description:
      'From its time on, the list replaces the one before for the same accounts. What it leaves out is as in the list for the reseller, then as in that for everyone, then as in the catalogue. Limits set for an account by `/cloud/v2` go before all lists. What is there already stays. Only for the platform administrator.',
    body: NewQuotaList,
    status: 201,
    answer: QuotaList,
    handler: async ({ principal, body }) => await createQuotaList(on, principal, body),
  });

  api.get(ONE, 'getQuotaList', 'Get a quota list', {
    params: QuotaListParams,
    answer: QuotaList,
    handler: ({ principal, params }) => getQuotaList(on, principal, params.quota_list_id),
  });

  api.delete(ONE, 'deleteQuotaList', 'Delete a quota list that is not in force yet', {
    platformDuty: QUOTA_DUTY,
    description: 'What has come into force stays: let another list follow it. Only for the platform administrator.',
    params: QuotaListParams,
    handler: ({ principal, params }) => deleteQuotaList(on, principal, params.quota_list_id),
  });
}
