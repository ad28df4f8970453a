import type { ClientCommand } from '../command.ts';

type Quotas = Record<string, unknown>;

export const quotas: readonly ClientCommand[] = [
  {
    name: 'quota list',
    summary: "List the quotas of the token's account, and how much of each is used",
    arguments: [],
    options: [],
    async run({ api, output }) {
      const answer = (await api.call('listQuotas')) as { global_quotas: Quotas; regional_quotas: Quotas[] };
      const rows = [answer.global_quotas, ...answer.regional_quotas].flatMap(limitsIn);
      output.rows(rows, { REGION: 'region', QUOTA: 'quota', USED: 'used', LIMIT: 'limit' });
    },
  },
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
