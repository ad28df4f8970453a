import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { isoMicros } from '../../../lib/timestamps.ts';
import type { Platform } from '../../../platform.ts';
import { LoggedRequestList, RequestListQuery } from './requests-schema.ts';
import { listRequests } from './service.ts';

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
