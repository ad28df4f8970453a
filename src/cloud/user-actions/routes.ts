import type { Api } from '../../http/server.ts';
import { isoMicros } from '../../lib/timestamps.ts';
import { UserActionList, UserActionListQuery } from './schema.ts';
import type { UserActions } from './service.ts';

export function userActionRoutes(app: Api, { userActions }: { userActions: UserActions }): void {
  app.get('/cloud/v1/user_actions', {
    config: { access: 'administer' },
    schema: {
      operationId: 'listUserActions',
      summary: 'List what the users of the account did',
      description:
        'Every request that was to change something, kept for a year. Accepted ones are here from the moment of their answer, refused ones a second later at most. Requests refused by the rate limit are not noted, and bodies are not kept. Logins are in GET /iam/activity_log/logins.',
      tags: ['User actions'],
      querystring: UserActionListQuery,
      response: { 200: UserActionList },
    },
    handler: async ({ principal, query }) => {
      const { count, rows } = await userActions.list(principal, query);
      return { count, results: rows.map((row) => ({ ...row, timestamp: isoMicros(row.timestamp) })) };
    },
  });
}
