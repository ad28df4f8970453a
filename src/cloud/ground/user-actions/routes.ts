import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { isoMicros } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { presentedAction } from './presenter.ts';
import { LoggedRequestList, RequestListQuery, UserActionList, UserActionListQuery } from './schema.ts';
import { listRequests, listUserActions } from './service.ts';

export function userActionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['User actions'], access: 'administer' });

  api.get('/cloud/v1/user_actions', 'listUserActions', 'List user actions', {
    description:
      'Lists accepted changes of cloud resources, with the resources that they were about. They are kept for a year and are listed immediately. For the outcome of an accepted task, see the task. For refused requests and those of other areas, see GET /cloud/v1/request_log.',
    query: UserActionListQuery,
    answer: UserActionList,
    handler: async ({ principal, query }) =>
      presentedPage(await listUserActions(on, principal, query), presentedAction),
  });
}

/** Routes for our own log, which also contains refused requests and those outside the cloud area. */
export function requestLogRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['User actions'], access: 'administer' });

  api.get('/cloud/v1/request_log', 'listRequests', 'List requests for changes', {
    description:
      'Lists all requests of the account that tried to change something, in all areas, including refused ones. They are kept for a year. Accepted requests are listed immediately, refused ones within a second. Requests refused by the rate limit are not logged, and request bodies are not stored. For logins, see GET /iam/activity_log/logins.',
    query: RequestListQuery,
    answer: LoggedRequestList,
    handler: async ({ principal, query }) =>
      presentedPage(await listRequests(on, principal, query), (row) => ({
        ...row,
        timestamp: isoMicros(row.timestamp),
      })),
  });
}
