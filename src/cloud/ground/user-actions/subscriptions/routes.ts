import { Type } from 'typebox';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { Subscribe, SubscriptionList, SubscriptionListQuery } from './schema.ts';
import { listSubscriptions, subscribe, unsubscribe } from './service.ts';

const BASE = '/cloud/v1/user_actions';
const tags = ['User actions'];
const NOTHING = { 204: Type.Null() };

/** Routes for HTTP subscriptions to the log of user actions. */
export function subscriptionRoutes(app: Api, on: Platform): void {
  app.post(`${BASE}/subscribe`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'subscribeToUserActions',
      summary: 'Subscribe to user actions',
      description:
        'From now on, each action of the account is sent by POST, in the same form as in the list, oldest first. The receiver confirms it with a 2xx response within 10 seconds. Otherwise it is sent again after 5 seconds and then at increasing intervals, for 24 hours. An action may arrive more than once; use its `id` to detect duplicates. An account can have one subscription; a second one returns 409.',
      tags,
      body: Subscribe,
      response: NOTHING,
    },
    handler: async ({ principal, body }, reply) => {
      await subscribe(on, principal, body);
      return reply.code(204).send(null);
    },
  });

  app.get(`${BASE}/subscriptions_list`, {
    // The value of the header is a secret.
    config: { access: 'administer', secretAnswer: true },
    schema: {
      operationId: 'listUserActionSubscriptions',
      summary: 'List subscriptions to user actions',
      tags,
      querystring: SubscriptionListQuery,
      response: { 200: SubscriptionList },
    },
    handler: async ({ principal, query }) => {
      const { count, rows } = await listSubscriptions(on, principal, query);
      return { count, results: rows };
    },
  });

  app.post(`${BASE}/unsubscribe`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'unsubscribeFromUserActions',
      summary: 'Unsubscribe from user actions',
      description: 'Has no effect if there is no subscription.',
      tags,
      response: NOTHING,
    },
    handler: async ({ principal }, reply) => {
      await unsubscribe(on, principal);
      return reply.code(204).send(null);
    },
  });
}
