import type { ApiCommand } from '../api/api-command.ts';

const LINE = {
  CLIENT: 'client_id',
  PROJECT: 'project_id',
  DAY: 'day',
  RESOURCE: 'name',
  REGION: 'region_id',
  TYPE: 'type',
  KIND: 'kind',
  QUANTITY: 'quantity',
  UNIT: 'unit',
};
const COST = { COST: 'cost', CURRENCY: 'currency', ERROR: 'err' };

/** The reports of the published contract. */
const REPORT = {
  TYPE: 'type',
  REGION: 'region_id',
  METRIC: 'billing_metric_name',
  VALUE: 'billing_value',
  UNIT: 'billing_value_unit',
};
const RESOURCE = { NAME: 'last_name', ...REPORT, FROM: 'first_seen', TO: 'last_seen' };

export const usage: readonly ApiCommand[] = [
  { name: 'usage list', operation: 'listUsage', rows: 'lines', columns: LINE, csv: true },
  { name: 'usage costs', operation: 'listCosts', rows: 'lines', columns: { ...LINE, ...COST }, csv: true },
  { name: 'usage report used', operation: 'getUsage', rows: 'resources', columns: RESOURCE },
  { name: 'usage report costs', operation: 'getCostTotals', columns: { ...REPORT, ...COST } },
  { name: 'usage report resources', operation: 'getResourceCosts', columns: { ...RESOURCE, ...COST } },
  { name: 'usage report month', operation: 'getMonthlyCostTotals', columns: { ...REPORT, ...COST } },
];
