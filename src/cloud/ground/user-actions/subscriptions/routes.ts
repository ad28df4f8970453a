import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import type { Platform } from '../../../../platform.ts';
import * as schema from './schema.ts';
import { listSubscriptions, subscribe, unsubscribe } from './service.ts';

const BASE = '/cloud/v1/user_actions';
const tags = ['User actions'];

/** Routes for HTTP subscriptions to the log of user actions. */
export function subscriptionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: 'administer' });

  api.post(`${BASE}/subscribe`, 'subscribeToUserActions', 'Subscribe to user actions', {
    description:
      'From now on, each action of the account is sent by POST, in the same form as in the list, oldest first. The receiver confirms it with a 2xx response within 10 seconds. Otherwise it is sent again after 5 seconds and then at increasing intervals, for 24 hours. An action may arrive more than once; use its `id` to detect duplicates. An account can have one subscription; a second one returns 409.',
    body: schema.Subscribe,
    handler: ({ principal, body }) => subscribe(on, principal, body),
  });

  api.get(`${BASE}/subscriptions_list`, 'listUserActionSubscriptions', 'List subscriptions to user actions', {
    secretAnswer: true,
    query: schema.SubscriptionListQuery,
    answer: schema.SubscriptionList,
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

const ONE = `${BASE}/amqp_subscriptions/:subscription_id`;
const UNSUPPORTED = 'Always returns 400: AMQP is not supported.';
const NONE = 'Always returns 404: AMQP is not supported.';

/** Routes for subscriptions by AMQP, which isn't supported: there are none, and none can be created. */
export function amqpSubscriptionRoutes(app: Api): void {
  const api = operations(app, { tags: ['User actions'], access: 'administer' });

  api.post(`${BASE}/subscribe_amqp`, 'subscribeToUserActionsByAmqp', 'Subscribe a message broker to user actions', {
    description: UNSUPPORTED,
    body: schema.SubscribeAmqp,
    handler: () => refuse(),
  });

  api.post(`${BASE}/subscribe_amqp_test`, 'tryAmqp', 'Send a test message to a message broker', {
    onlyAsks: true,
    description: UNSUPPORTED,
    body: schema.TryAmqp,
    handler: () => refuse(),
  });

  api.get(`${BASE}/amqp_subscriptions_list`, 'listAmqpSubscriptions', 'List AMQP subscriptions', {
    description: 'Always empty: AMQP is not supported.',
    query: schema.SubscriptionListQuery,
    answer: schema.AmqpSubscriptionList,
    handler: async () => ({ count: 0, results: [] }),
  });

  api.get(ONE, 'getAmqpSubscription', 'Get an AMQP subscription', {
    description: NONE,
    params: schema.AmqpSubscriptionParams,
    answer: schema.AmqpSubscription,
    handler: async ({ params }) => notFound(params.subscription_id),
  });

  api.patch(ONE, 'updateAmqpSubscription', 'Update an AMQP subscription', {
    description: NONE,
    params: schema.AmqpSubscriptionParams,
    body: schema.UpdateAmqp,
    answer: schema.AmqpSubscription,
    handler: async ({ params }) => notFound(params.subscription_id),
  });

  api.post(`${BASE}/unsubscribe_amqp`, 'unsubscribeFromUserActionsByAmqp', 'Delete the AMQP subscription', {
    description: 'Has no effect: AMQP is not supported.',
    handler: async (_request) => null,
  });
}

async function refuse(): Promise<never> {
  throw new InvalidError({
    connection_string: ['AMQP is not supported; subscribe by HTTP with POST /cloud/v1/user_actions/subscribe instead.'],
  });
}

function notFound(id: number): never {
  throw new NotFoundError('AMQP subscription', id);
}
