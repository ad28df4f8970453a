import type { ApiCommand } from '../api/api-command.ts';

const USED = {
  TYPE: 'type',
  REGION: 'region_id',
  METRIC: 'billing_metric_name',
  VALUE: 'billing_value',
  UNIT: 'billing_value_unit',
};
const COST = { COST: 'cost', CURRENCY: 'currency', ERROR: 'err' };
const RESOURCE = { NAME: 'last_name', ...USED, FROM: 'first_seen', TO: 'last_seen' };

export const usage: readonly ApiCommand[] = [
  { name: 'usage list', operation: 'getUsage', rows: 'resources', columns: RESOURCE },
  { name: 'usage costs', operation: 'getCostTotals', columns: { ...USED, ...COST } },
  { name: 'usage resources', operation: 'getResourceCosts', columns: { ...RESOURCE, ...COST } },
  { name: 'usage month', operation: 'getMonthlyCostTotals', columns: { ...USED, ...COST } },
];
