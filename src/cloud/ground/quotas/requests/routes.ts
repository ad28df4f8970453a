import { Type } from 'typebox';
import type { Api } from '../../../../http/server.ts';
import { presentedPage } from '../../../../lib/page.ts';
import { isoSeconds } from '../../../../lib/timestamps.ts';
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
  app.post(BASE, {
    config: { access: 'administer', closedBody: true },
    schema: {
      operationId: 'createLimitRequest',
      summary: 'Ask for other limits',
      description: 'The platform administrator decides.',
      tags,
      body: CreateLimitRequest,
      response: { 201: NOTHING },
    },
    handler: async ({ principal, body }, reply) => {
      await createLimitRequest(on, principal, body);
      return reply.code(201).send(undefined);
    },
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listLimitRequests',
      summary: 'List requests for other limits',
      description: 'Newest first. The platform administrator sees those of all accounts.',
      tags,
      querystring: LimitRequestListQuery,
      response: { 200: LimitRequestList },
    },
    handler: async ({ principal, query }) =>
      presentedPage(await listLimitRequests(on, principal, query), presented),
  });

  app.get(ONE, {
    config: { access: 'read', versioned: { table: 'quota_requests', columns: { request_id: 'id' } } },
    schema: {
      operationId: 'getLimitRequest',
      summary: 'Get a request for other limits',
      tags,
      params: LimitRequestParams,
      response: { 200: LimitRequestAnswer },
    },
    handler: async ({ principal, params }) =>
      presented(await getLimitRequest(on, principal, params.request_id)),
  });

  app.patch(ONE, {
    config: { access: 'administer' },
    schema: {
      operationId: 'decideLimitRequest',
      summary: 'Grant or reject a request for other limits',
      description: 'Only for the platform administrator. Returns 409 if that is decided already.',
      tags,
      params: LimitRequestParams,
      body: DecideLimitRequest,
      response: { 200: LimitRequestAnswer },
    },
    handler: async ({ principal, params, body }) =>
      presented(await decideLimitRequest(on, principal, params.request_id, body.status)),
  });

  app.delete(ONE, {
    config: { access: 'administer' },
    schema: {
      operationId: 'deleteLimitRequest',
      summary: 'Delete a request for other limits',
      description: 'Limits that were granted stay.',
      tags,
      params: LimitRequestParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await deleteLimitRequest(on, principal, params.request_id);
      return reply.code(204).send(null);
    },
  });
}

function presented(row: LimitRequestRow): LimitRequestAnswer {
  const { revision: _, ...shown } = row;
  return { ...shown, created_at: isoSeconds(row.created_at), updated_at: isoSeconds(row.updated_at) };
}
