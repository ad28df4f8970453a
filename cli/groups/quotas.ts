import type { ApiCommand } from '../api/api-command.ts';
import type { ClientCommand } from '../command.ts';

type Quotas = Record<string, unknown>;

const REQUEST_COLUMNS = {
  ID: 'id',
  CLIENT: 'client_id',
  STATUS: 'status',
  DESCRIPTION: 'description',
  CREATED: 'created_at',
};

export const quotas: readonly (ApiCommand | ClientCommand)[] = [
  {
    name: 'quota list',
    summary: "List the quotas of the token's account, and how much of each is used",
    arguments: [],
    options: [],
    operations: ['listQuotas'],
    async run({ api, output }) {
      const answer = (await api.call('listQuotas')) as { global_quotas: Quotas; regional_quotas: Quotas[] };
      const rows = [answer.global_quotas, ...answer.regional_quotas].flatMap(limitsIn);
      output.rows(rows, { REGION: 'region', QUOTA: 'quota', USED: 'used', LIMIT: 'limit' });
    },
  },
  { name: 'quota get', operation: 'getRegionalQuotas', summary: 'Get the quotas of an account in a region' },
  { name: 'quota change', operation: 'changeRegionalQuotas' },
  { name: 'quota get-global', operation: 'getGlobalQuotas' },
  { name: 'quota change-global', operation: 'changeGlobalQuotas' },
  { name: 'quota threshold get', operation: 'getQuotaThreshold' },
  { name: 'quota threshold set', operation: 'setQuotaThreshold' },
  { name: 'quota threshold delete', operation: 'deleteQuotaThreshold' },
  { name: 'quota request list', operation: 'listLimitRequests', columns: REQUEST_COLUMNS },
  { name: 'quota request get', operation: 'getLimitRequest', arguments: ['request_id'] },
  { name: 'quota request create', operation: 'createLimitRequest' },
  { name: 'quota request decide', operation: 'decideLimitRequest', arguments: ['request_id'] },
  { name: 'quota request delete', operation: 'deleteLimitRequest', arguments: ['request_id'] },
];

/** `vm_count_limit` and `vm_count_usage` as one row. */
function limitsIn(quotas: Quotas) {
  return Object.keys(quotas)
    .filter((name) => name.endsWith('_limit'))
    .map((name) => name.replace(/_limit$/, ''))
    .map((quota) => ({
      region: quotas.region_id ?? null,
      quota,
      used: quotas[`${quota}_usage`],
      limit: quotas[`${quota}_limit`],
    }));
}
