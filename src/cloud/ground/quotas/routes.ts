import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import {
  AllQuotas,
  ChangeGlobalQuotas,
  ChangeRegionalQuotas,
  GlobalQuotas,
  QuotaClientParams,
  QuotaRegionParams,
  QuotaThreshold,
  RegionalQuotas,
  SetQuotaThreshold,
} from './quota-schema.ts';
import {
  changeGlobalQuotas,
  changeRegionalQuotas,
  getGlobalQuotas,
  getQuotaThreshold,
  getRegionalQuotas,
  listQuotas,
  setQuotaThreshold,
} from './service.ts';

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
  app.get(`${BASE}/client_quotas`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listQuotas',
      summary: 'Get all quotas of the account',
      description: 'What it may have, and what it has.',
      tags,
      response: { 200: AllQuotas },
    },
    handler: ({ principal }) => listQuotas(on, principal),
  });

  app.get(REGIONAL, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getRegionalQuotas',
      summary: 'Get the quotas of an account in a region',
      description: 'Of the own account, or of a client of the own reseller.',
      tags,
      params: QuotaRegionParams,
      response: { 200: RegionalQuotas },
    },
    handler: ({ principal, params }) => getRegionalQuotas(on, principal, params.client_id, params.region_id),
  });

  app.patch(REGIONAL, {
    config: { access: 'administer' },
    schema: {
      operationId: 'changeRegionalQuotas',
      summary: 'Change the limits of an account in a region',
      description: BY_PLATFORM,
      tags,
      params: QuotaRegionParams,
      body: ChangeRegionalQuotas,
      response: { 200: RegionalQuotas },
    },
    handler: ({ principal, params, body }) =>
      changeRegionalQuotas(on, principal, params.client_id, params.region_id, body),
  });

  app.get(GLOBAL, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getGlobalQuotas',
      summary: 'Get the quotas of an account that belong to no region',
      description: 'Of the own account, or of a client of the own reseller.',
      tags,
      params: QuotaClientParams,
      response: { 200: GlobalQuotas },
    },
    handler: ({ principal, params }) => getGlobalQuotas(on, principal, params.client_id),
  });

  app.patch(GLOBAL, {
    config: { access: 'administer' },
    schema: {
      operationId: 'changeGlobalQuotas',
      summary: 'Change the limits of an account that belong to no region',
      description: BY_PLATFORM,
      tags,
      params: QuotaClientParams,
      body: ChangeGlobalQuotas,
      response: { 200: GlobalQuotas },
    },
    handler: ({ principal, params, body }) => changeGlobalQuotas(on, principal, params.client_id, body),
  });

  app.get(THRESHOLD, {
    config: { access: 'read' },
    schema: {
      operationId: 'getQuotaThreshold',
      summary: 'Get the percentage of quotas at which an account wants to be warned',
      tags,
      params: QuotaClientParams,
      response: { 200: QuotaThreshold },
    },
    handler: ({ principal, params }) => getQuotaThreshold(on, principal, params.client_id),
  });

  app.put(THRESHOLD, {
    config: { access: 'administer' },
    schema: {
      operationId: 'setQuotaThreshold',
      summary: 'Set the percentage of quotas at which an account wants to be warned',
      tags,
      params: QuotaClientParams,
      body: SetQuotaThreshold,
      response: { 200: QuotaThreshold },
    },
    handler: async ({ principal, params, body }) => {
      await setQuotaThreshold(on, principal, params.client_id, body.threshold);
      return getQuotaThreshold(on, principal, params.client_id);
    },
  });

  app.delete(THRESHOLD, {
    config: { access: 'administer' },
    schema: {
      operationId: 'deleteQuotaThreshold',
      summary: 'Forget the percentage, so that it is 80 again',
      tags,
      params: QuotaClientParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await setQuotaThreshold(on, principal, params.client_id, null);
      return reply.code(204).send(null);
    },
  });
}
