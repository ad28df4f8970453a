import { type Static, type TSchema, Type } from 'typebox';
import { Input, IntegerId, listOf, listQuery, Named, nullable, Query } from '../../../../lib/wire.ts';

const HEADER_RULE = 'Must be a header name of letters, digits and hyphens, such as Authorization.';

const subscriptionFields = {
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'URL that receives each action by POST: http:// or https://, on the public internet',
    examples: ['https://audit.example.com/actions'],
  }),
  auth_header_name: Type.String({
    maxLength: 100,
    pattern: '^[A-Za-z0-9-]+$',
    rule: HEADER_RULE,
    description: 'Name of the header that authenticates the sender',
    examples: ['Authorization'],
  }),
  auth_header_value: Type.String({
    maxLength: 4096,
    pattern: '^[\\x20-\\x7e]*$',
    rule: 'Must be ASCII without line breaks.',
    description: 'Value of the header',
    examples: ['Bearer secret'],
  }),
};

export const Subscribe = Input('SubscribeToUserActions', subscriptionFields, {
  url: 'https://audit.example.com/actions',
  auth_header_name: 'Authorization',
  auth_header_value: 'Bearer secret',
});
export type Subscribe = Static<typeof Subscribe>;

const Subscription = Named('UserActionSubscription', {
  id: Type.Integer({ description: 'Subscription ID' }),
  ...subscriptionFields,
});
export const SubscriptionList = listOf(Subscription, 'UserActionSubscriptionList');
export const SubscriptionListQuery = Query(listQuery());

const BROKER = 'amqps://guest:guest@broker.example.com:5671/user_action_events';
const ConnectionString = Type.String({
  maxLength: 2048,
  description: 'Connection string of the broker',
  examples: [BROKER],
});
const BrokerText = (description: string) => Type.String({ maxLength: 255, description });
const ChildEvents = Type.Boolean({
  description: "Whether to include actions of a reseller's clients",
});
const optionalOrNull = <T extends TSchema & { type?: string }>(schema: T) => Type.Optional(nullable(schema));

export const SubscribeAmqp = Input(
  'SubscribeToUserActionsByAmqp',
  {
    connection_string: ConnectionString,
    exchange: optionalOrNull(BrokerText('Exchange')),
    routing_key: optionalOrNull(BrokerText('Routing key')),
    receive_child_client_events: Type.Optional(ChildEvents),
  },
  { connection_string: BROKER },
);

export const TryAmqp = Input(
  'TryAmqp',
  {
    connection_string: ConnectionString,
    exchange: Type.Optional(BrokerText('Exchange')),
    routing_key: Type.Optional(BrokerText('Routing key')),
  },
  { connection_string: BROKER },
);

export const UpdateAmqp = Type.Partial(
  Type.Object({
    connection_string: ConnectionString,
    exchange: BrokerText('Exchange'),
    routing_key: BrokerText('Routing key'),
    receive_child_client_events: ChildEvents,
  }),
  { title: 'UpdateAmqpSubscription', additionalProperties: false, examples: [{ routing_key: 'actions' }] },
);

export const AmqpSubscription = Named('AmqpSubscription', {
  id: Type.Integer({ description: 'Subscription ID' }),
  connection_string: ConnectionString,
  exchange: nullable(BrokerText('Exchange')),
  routing_key: nullable(BrokerText('Routing key')),
  receive_child_client_events: ChildEvents,
});
export const AmqpSubscriptionList = listOf(AmqpSubscription, 'AmqpSubscriptionList');
export const AmqpSubscriptionParams = Type.Object({ subscription_id: IntegerId('Subscription ID') });
