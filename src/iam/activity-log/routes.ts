import type { Api } from '../../http/server.ts';
import { PageQuery } from '../../lib/wire.ts';
import { AccountRequest, AccountRequestPage, RequestParams, StatusChangePage } from './schema.ts';
import type { ActivityLog } from './service.ts';

const tags = ['User actions'];
const LOG = '/iam/activity_log';

export function activityLogRoutes(app: Api, { activityLog: log }: { activityLog: ActivityLog }): void {
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
    handler: ({ principal, query }) => log.statusChanges(principal, query),
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
    handler: ({ principal, query }) => log.requests(principal, query),
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
    handler: ({ principal, params }) => log.request(principal, params.requestId),
  });
}
