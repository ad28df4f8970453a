import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import * as quotas from './service.ts';

const BASE = '/cloud/v2';
const REGIONAL = `${BASE}/regional_quotas/:client_id/:region_id`;
const GLOBAL = `${BASE}/global_quotas/:client_id`;
const THRESHOLD = `${BASE}/client_quotas/:client_id/notification_threshold`;
/** Limits have the version of their client. */
const VERSIONED = { table: 'clients', columns: { client_id: 'id' } };
const tags = ['Quotas'];
const BY_PLATFORM =
  'Takes effect at once, and keeps what is there already. Null gives the limit of the catalogue back. Only for the platform administrator.';

export function quotaRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: schema.QuotaClientParams });

  api.get(`${BASE}/client_quotas`, 'listQuotas', 'Get all quotas of the account', {
    description: 'What it may have, and what it has.',
    answer: schema.AllQuotas,
    handler: ({ principal }) => quotas.listQuotas(on, principal),
  });

  api.get(REGIONAL, 'getRegionalQuotas', 'Get the quotas of an account in a region', {
    versioned: VERSIONED,
    description: 'Of the own account, or of a client of the own reseller.',
    params: schema.QuotaRegionParams,
    answer: schema.RegionalQuotas,
    handler: ({ principal, params }) => quotas.getRegionalQuotas(on, principal, params.client_id, params.region_id),
  });

  api.patch(REGIONAL, 'changeRegionalQuotas', 'Change the limits of an account in a region', {
    access: 'administer',
    platformDuty: quotas.QUOTA_DUTY,
    description: BY_PLATFORM,
    params: schema.QuotaRegionParams,
    body: schema.ChangeRegionalQuotas,
    answer: schema.RegionalQuotas,
    handler: ({ principal, params, body }) =>
      quotas.changeRegionalQuotas(on, principal, params.client_id, params.region_id, body),
  });

  api.get(GLOBAL, 'getGlobalQuotas', 'Get the quotas of an account that belong to no region', {
    versioned: VERSIONED,
    description: 'Of the own account, or of a client of the own reseller.',
    answer: schema.GlobalQuotas,
    handler: ({ principal, params }) => quotas.getGlobalQuotas(on, principal, params.client_id),
  });

  api.patch(GLOBAL, 'changeGlobalQuotas', 'Change the limits of an account that belong to no region', {
    access: 'administer',
    platformDuty: quotas.QUOTA_DUTY,
    description: BY_PLATFORM,
    body: schema.ChangeGlobalQuotas,
    answer: schema.GlobalQuotas,
    handler: ({ principal, params, body }) => quotas.changeGlobalQuotas(on, principal, params.client_id, body),
  });

  api.get(THRESHOLD, 'getQuotaThreshold', 'Get the percentage of quotas at which an account wants to be warned', {
    answer: schema.QuotaThreshold,
    handler: ({ principal, params }) => quotas.getQuotaThreshold(on, principal, params.client_id),
  });

  api.put(THRESHOLD, 'setQuotaThreshold', 'Set the percentage of quotas at which an account wants to be warned', {
    access: 'administer',
    body: schema.SetQuotaThreshold,
    answer: schema.QuotaThreshold,
    handler: async ({ principal, params, body }) => {
      await quotas.setQuotaThreshold(on, principal, params.client_id, body.threshold);
      return quotas.getQuotaThreshold(on, principal, params.client_id);
    },
  });

  api.delete(THRESHOLD, 'deleteQuotaThreshold', 'Forget the percentage, so that it is 80 again', {
    access: 'administer',
    handler: ({ principal, params }) => quotas.setQuotaThreshold(on, principal, params.client_id, null),
  });
}
