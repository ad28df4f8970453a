import { Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { presentedPage } from '../../../../lib/page.ts';
import { isoSeconds } from '../../../../lib/time.ts';
import type { Platform } from '../../../../platform.ts';
import {
  CreateLimitRequest,
  DecideLimitRequest,
  LimitRequestAnswer,
  LimitRequestList,
  LimitRequestListQuery,
  LimitRequestParams,
} from './schema.ts';
import {
  createLimitRequest,
  decideLimitRequest,
  deleteLimitRequest,
  getLimitRequest,
  listLimitRequests,
} from './service.ts';
import type { LimitRequestRow } from './store.ts';

const BASE = '/cloud/v2/limits_request';
const ONE = `${BASE}/:request_id`;
/** The published contract answers 201 without a body. */
const NOTHING = Type.Unsafe<undefined>(Type.Null({ description: 'Accepted' }));
const tags = ['Quotas'];

export function limitRequestRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: LimitRequestParams });

  api.post(BASE, 'createLimitRequest', 'Ask for other limits', {
    access: 'administer',
    closedBody: true,
    description: 'The platform administrator decides.',
    body: CreateLimitRequest,
    status: 201,
    answer: NOTHING,
    handler: async ({ principal, body }) => {
      await createLimitRequest(on, principal, body);
      return undefined;
    },
  });

  api.get(BASE, 'listLimitRequests', 'List requests for other limits', {
    description: 'Newest first. The platform administrator sees those of all accounts.',
    query: LimitRequestListQuery,
    answer: LimitRequestList,
    handler: async ({ principal, query }) =>
      presentedPage(await listLimitRequests(on, principal, query), presented),
  });

  api.get(ONE, 'getLimitRequest', 'Get a request for other limits', {
    versioned: { table: 'quota_requests', columns: { request_id: 'id' } },
    answer: LimitRequestAnswer,
    handler: async ({ principal, params }) =>
      presented(await getLimitRequest(on, principal, params.request_id)),
  });

  api.patch(ONE, 'decideLimitRequest', 'Grant or reject a request for other limits', {
    access: 'administer',
    description: 'Only for the platform administrator. Returns 409 if that is decided already.',
    body: DecideLimitRequest,
    answer: LimitRequestAnswer,
    handler: async ({ principal, params, body }) =>
      presented(await decideLimitRequest(on, principal, params.request_id, body.status)),
  });

  api.delete(ONE, 'deleteLimitRequest', 'Delete a request for other limits', {
    access: 'administer',
    description: 'Limits that were granted stay.',
    handler: ({ principal, params }) => deleteLimitRequest(on, principal, params.request_id),
  });
}

function presented(row: LimitRequestRow): LimitRequestAnswer {
  const { revision: _, ...shown } = row;
  return { ...shown, created_at: isoSeconds(row.created_at), updated_at: isoSeconds(row.updated_at) };
}
