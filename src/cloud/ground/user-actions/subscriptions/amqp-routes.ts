import { Type } from 'typebox';
import type { Api } from '../../../../http/server.ts';
import { InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import {
  AmqpSubscription,
  AmqpSubscriptionList,
  AmqpSubscriptionParams,
  SubscribeAmqp,
  SubscriptionListQuery,
  TryAmqp,
  UpdateAmqp,
} from './schema.ts';

const BASE = '/cloud/v1/user_actions';
const ONE = `${BASE}/amqp_subscriptions/:subscription_id`;
const UNSUPPORTED = 'Always returns 400: AMQP is not supported.';
const NONE = 'Always returns 404: AMQP is not supported.';
const common = { tags: ['User actions'] };
const NOTHING = { 204: Type.Null() };

/** Routes for subscriptions by AMQP, which isn't supported: there are none, and none can be created. */
export function amqpSubscriptionRoutes(app: Api): void {
  app.post(`${BASE}/subscribe_amqp`, {
    config: { access: 'administer' },
    schema: {
      ...common,
      operationId: 'subscribeToUserActionsByAmqp',
      summary: 'Subscribe a message broker to user actions',
      description: UNSUPPORTED,
      body: SubscribeAmqp,
      response: NOTHING,
    },
    handler: () => refuse(),
  });

  app.post(`${BASE}/subscribe_amqp_test`, {
    config: { access: 'administer', onlyAsks: true },
    schema: {
      ...common,
      operationId: 'tryAmqp',
      summary: 'Send a test message to a message broker',
      description: UNSUPPORTED,
      body: TryAmqp,
      response: NOTHING,
    },
    handler: () => refuse(),
  });

  app.get(`${BASE}/amqp_subscriptions_list`, {
    config: { access: 'administer' },
    schema: {
      ...common,
      operationId: 'listAmqpSubscriptions',
      summary: 'List AMQP subscriptions',
      description: 'Always empty: AMQP is not supported.',
      querystring: SubscriptionListQuery,
      response: { 200: AmqpSubscriptionList },
    },
    handler: async () => ({ count: 0, results: [] }),
  });

  app.get(ONE, {
    config: { access: 'administer' },
    schema: {
      ...common,
      operationId: 'getAmqpSubscription',
      summary: 'Get an AMQP subscription',
      description: NONE,
      params: AmqpSubscriptionParams,
      response: { 200: AmqpSubscription },
    },
    handler: async ({ params }) => notFound(params.subscription_id),
  });

  app.patch(ONE, {
    config: { access: 'administer' },
    schema: {
      ...common,
      operationId: 'updateAmqpSubscription',
      summary: 'Update an AMQP subscription',
      description: NONE,
      params: AmqpSubscriptionParams,
      body: UpdateAmqp,
      response: { 200: AmqpSubscription },
    },
    handler: async ({ params }) => notFound(params.subscription_id),
  });

  app.post(`${BASE}/unsubscribe_amqp`, {
    config: { access: 'administer' },
    schema: {
      ...common,
      operationId: 'unsubscribeFromUserActionsByAmqp',
      summary: 'Delete the AMQP subscription',
      description: 'Has no effect: AMQP is not supported.',
      response: NOTHING,
    },
    handler: async (_request, reply) => reply.code(204).send(null),
  });
}

async function refuse(): Promise<never> {
  throw new InvalidError({
    connection_string: [
      'AMQP is not supported; subscribe by HTTP with POST /cloud/v1/user_actions/subscribe instead.',
    ],
  });
}

function notFound(id: number): never {
  throw new NotFoundError('AMQP subscription', id);
}
