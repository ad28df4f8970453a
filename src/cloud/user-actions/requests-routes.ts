import type { Api } from '../../http/server.ts';
import { presentedPage } from '../../lib/page.ts';
import { isoMicros } from '../../lib/timestamps.ts';
import { LoggedRequestList, RequestListQuery } from './requests-schema.ts';
import type { UserActions } from './service.ts';

/** Routes for our own log, which also contains refused requests and those outside the cloud area. */
export function requestLogRoutes(app: Api, { userActions }: { userActions: UserActions }): void {
  app.get('/cloud/v1/request_log', {
    config: { access: 'administer' },
    schema: {
      operationId: 'listRequests',
      summary: 'List the requests that were to change something',
      description:
        'Every request of the account that was to change something, refused ones and those of all areas included, kept for a year. Accepted ones are here from the moment of their answer, refused ones a second later at most. Requests refused by the rate limit are not noted, and bodies are not kept. Logins are in GET /iam/activity_log/logins.',
      tags: ['User actions'],
      querystring: RequestListQuery,
      response: { 200: LoggedRequestList },
    },
    handler: async ({ principal, query }) =>
      presentedPage(await userActions.requests(principal, query), (row) => ({
        ...row,
        timestamp: isoMicros(row.timestamp),
      })),
  });
}
