import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
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
const UNSUPPORTED = 'AMQP is not supported by this service: the answer is always 400.';
const NONE = 'There is none, since AMQP is not supported by this service: the answer is always 404.';
const common = { tags: ['User actions'] };
const NOTHING = { 204: Type.Null() };

/** Routes for subscriptions by AMQP, which isn't supported: there are none, and none can be created. */
export function amqpSubscriptionRoutes(app: Api): void {
  app.post(`${BASE}/subscribe_amqp`, {
    config: { access: 'administer' },
    schema: {
      ...common,
      operationId: 'subscribeToUserActionsByAmqp',
      summary: 'Have user actions sent to a broker',
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
      summary: 'Send a message to a broker',
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
      summary: 'List the brokers that user actions are sent to',
      description: 'Always empty: AMQP is not supported by this service.',
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
      summary: 'Get a subscription by AMQP',
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
      summary: 'Change a subscription by AMQP',
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
      summary: 'No longer have user actions sent to a broker',
      description: 'There is nothing to end, since AMQP is not supported by this service.',
      response: NOTHING,
    },
    handler: async (_request, reply) => reply.code(204).send(null),
  });
}

async function refuse(): Promise<never> {
  throw new InvalidError({
    connection_string: [
      'AMQP is not supported by this service; have user actions sent by HTTP with POST /cloud/v1/user_actions/subscribe.',
    ],
  });
}

function notFound(id: number): never {
  throw new NotFoundError('AMQP subscription', id);
}
