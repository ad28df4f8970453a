import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import { presentedAction } from './presenter.ts';
import { UserActionList, UserActionListQuery } from './schema.ts';
import { listUserActions } from './service.ts';

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
