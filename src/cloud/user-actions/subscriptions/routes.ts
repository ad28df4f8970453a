import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import { Subscribe, SubscriptionList, SubscriptionListQuery } from './schema.ts';
import type { Subscriptions } from './service.ts';

const BASE = '/cloud/v1/user_actions';
const tags = ['User actions'];
const NOTHING = { 204: Type.Null() };

/** Routes for HTTP subscriptions to the log of user actions. */
export function subscriptionRoutes(app: Api, { subscriptions }: { subscriptions: Subscriptions }): void {
  app.post(`${BASE}/subscribe`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'subscribeToUserActions',
      summary: 'Have user actions sent to an address',
      description:
        'From now on each action of the account is sent by POST, as the list shows it, the older first. An answer of 2xx within 10 seconds takes it; else it is sent again after 5 seconds and ever longer pauses, for 24 hours. It may come more than once: tell by its `id`. An account has one subscription; 409 while it has another.',
      tags,
      body: Subscribe,
      response: NOTHING,
    },
    handler: async ({ principal, body }, reply) => {
      await subscriptions.subscribe(principal, body);
      return reply.code(204).send(null);
    },
  });

  app.get(`${BASE}/subscriptions_list`, {
    // The value of the header is a secret.
    config: { access: 'administer', secretAnswer: true },
    schema: {
      operationId: 'listUserActionSubscriptions',
      summary: 'List where user actions are sent to',
      tags,
      querystring: SubscriptionListQuery,
      response: { 200: SubscriptionList },
    },
    handler: async ({ principal, query }) => {
      const { count, rows } = await subscriptions.list(principal, query);
      return { count, results: rows };
    },
  });

  app.post(`${BASE}/unsubscribe`, {
    config: { access: 'administer' },
    schema: {
      operationId: 'unsubscribeFromUserActions',
      summary: 'No longer have user actions sent',
      description: 'Nothing happens where there is no subscription.',
      tags,
      response: NOTHING,
    },
    handler: async ({ principal }, reply) => {
      await subscriptions.unsubscribe(principal);
      return reply.code(204).send(null);
    },
  });
}
