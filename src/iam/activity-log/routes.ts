import type { Api } from '../../http/server.ts';
import { PageQuery } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { AccountRequest, AccountRequestPage, RequestParams, StatusChangePage } from './schema.ts';
import { getLoggedRequest, listLoggedRequests, listStatusChanges } from './service.ts';

const tags = ['User actions'];
const LOG = '/iam/activity_log';

export function activityLogRoutes(app: Api, on: Platform): void {
  app.get(`${LOG}/account_status_changes`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'listAccountStatusChanges',
      summary: 'List when accounts were paused and resumed',
      description: 'Newest first. Resellers also see those of their clients.',
      tags,
      querystring: PageQuery,
      response: { 200: StatusChangePage },
    },
    handler: ({ principal, query }) => listStatusChanges(on, principal, query),
  });

  app.get(`${LOG}/requests`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'listAccountRequests',
      summary: 'List the requests of an account',
      description: 'Newest first. Only requests of the last year that were meant to change something.',
      tags,
      querystring: PageQuery,
      response: { 200: AccountRequestPage },
    },
    handler: ({ principal, query }) => listLoggedRequests(on, principal, query),
  });

  app.get(`${LOG}/requests/:requestId`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'getAccountRequest',
      summary: 'Get a request of an account',
      tags,
      params: RequestParams,
      response: { 200: AccountRequest },
    },
    handler: ({ principal, params }) => getLoggedRequest(on, principal, params.requestId),
  });
}
