import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { PageQuery } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { AccountRequest, AccountRequestPage, RequestParams, StatusChangePage } from './schema.ts';
import { getLoggedRequest, listLoggedRequests, listStatusChanges } from './service.ts';

const tags = ['User actions'];
const LOG = '/iam/activity_log';

export function activityLogRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: 'administer' });

  api.get(`${LOG}/account_status_changes`, 'listAccountStatusChanges', 'List when accounts were paused and resumed', {
    description: 'Newest first. Resellers also see those of their clients.',
    query: PageQuery,
    answer: StatusChangePage,
    handler: ({ principal, query }) => listStatusChanges(on, principal, query),
  });

  api.get(`${LOG}/requests`, 'listAccountRequests', 'List the requests of an account', {
    description: 'Newest first. Only requests of the last year that were meant to change something.',
    query: PageQuery,
    answer: AccountRequestPage,
    handler: ({ principal, query }) => listLoggedRequests(on, principal, query),
  });

  api.get(`${LOG}/requests/:requestId`, 'getAccountRequest', 'Get a request of an account', {
    params: RequestParams,
    answer: AccountRequest,
    handler: ({ principal, params }) => getLoggedRequest(on, principal, params.requestId),
  });
}
