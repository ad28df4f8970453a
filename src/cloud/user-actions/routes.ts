import type { Api } from '../../http/server.ts';
import { presentedPage } from '../../lib/page.ts';
import { presentedAction } from './presenter.ts';
import { UserActionList, UserActionListQuery } from './schema.ts';
import type { UserActions } from './service.ts';

export function userActionRoutes(app: Api, { userActions }: { userActions: UserActions }): void {
  app.get('/cloud/v1/user_actions', {
    config: { access: 'administer' },
    schema: {
      operationId: 'listUserActions',
      summary: 'List what the users of the account did',
      description:
        'Accepted changes of cloud resources, with what each was about; kept for a year, and there from the moment of the answer. What an accepted task came to is in the task. GET /cloud/v1/request_log has refused requests and those of the other areas besides.',
      tags: ['User actions'],
      querystring: UserActionListQuery,
      response: { 200: UserActionList },
    },
    handler: async ({ principal, query }) =>
      presentedPage(await userActions.list(principal, query), presentedAction),
  });
}
