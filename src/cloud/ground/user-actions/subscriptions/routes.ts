import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { Subscribe, SubscriptionList, SubscriptionListQuery } from './schema.ts';
import { listSubscriptions, subscribe, unsubscribe } from './service.ts';

const BASE = '/cloud/v1/user_actions';
const tags = ['User actions'];

/** Routes for HTTP subscriptions to the log of user actions. */
export function subscriptionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: 'administer' });

  api.post(`${BASE}/subscribe`, 'subscribeToUserActions', 'Subscribe to user actions', {
    description:
      'From now on, each action of the account is sent by POST, in the same form as in the list, oldest first. The receiver confirms it with a 2xx response within 10 seconds. Otherwise it is sent again after 5 seconds and then at increasing intervals, for 24 hours. An action may arrive more than once; use its `id` to detect duplicates. An account can have one subscription; a second one returns 409.',
    body: Subscribe,
    handler: ({ principal, body }) => subscribe(on, principal, body),
  });

  api.get(`${BASE}/subscriptions_list`, 'listUserActionSubscriptions', 'List subscriptions to user actions', {
    secretAnswer: true,
    query: SubscriptionListQuery,
    answer: SubscriptionList,
    handler: async ({ principal, query }) => {
      const { count, rows } = await listSubscriptions(on, principal, query);
      return { count, results: rows };
    },
  });

  api.post(`${BASE}/unsubscribe`, 'unsubscribeFromUserActions', 'Unsubscribe from user actions', {
    description: 'Has no effect if there is no subscription.',
    handler: ({ principal }) => unsubscribe(on, principal),
  });
}
