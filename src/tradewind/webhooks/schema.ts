import { type Static, Type } from 'typebox';
import { Choice, Input, IntegerId, Named, nullable, Query, Timestamp } from '../../lib/wire.ts';
import { Event, TYPE_PATTERN } from '../events/schema.ts';
import type { DeliveryRow, WebhookRow } from './store.ts';

/** Base64 of 24 to 64 bytes, as the standard recommends. */
export const SECRET_PATTERN = '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$';

const settings = {
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Where events are sent by POST: http:// or https://, on the public internet',
    examples: ['https://hooks.example.com/tradewind'],
  }),
  types: Type.Array(Type.String(TYPE_PATTERN), {
    minItems: 1,
    maxItems: 50,
    description: 'Types of events, with a star at the end for all that begin so',
    examples: [['tradewind.cluster.*']],
  }),
  description: Type.String({ maxLength: 255, description: 'For people', examples: ['Deploy bot'] }),
};

const Secret = Type.String({
  pattern: SECRET_PATTERN,
  rule: 'Must be whsec_ and then base64 of 24 to 64 bytes.',
  description: 'What messages are signed with: `whsec_` and then base64 of 24 to 64 bytes. Made if left out',
});

export const WebhookInput = Input(
  'WebhookInput',
  {
    url: settings.url,
    types: settings.types,
    description: Type.Optional(settings.description),
    secret: Type.Optional(Secret),
  },
  { url: 'https://hooks.example.com/tradewind', types: ['tradewind.cluster.*'], description: 'Deploy bot' },
);
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookChange = Input(
  'WebhookChange',
  {
    url: Type.Optional(settings.url),
    types: Type.Optional(settings.types),
    description: Type.Optional(settings.description),
    enabled: Type.Optional(
      Type.Boolean({
        description:
          'Whether events are sent. What happens while it is off is never sent; what waited before goes on within its 24 hours',
      }),
    ),
  },
  { types: ['tradewind.cluster.*', 'tradewind.task.*'] },
);
export type WebhookChange = Static<typeof WebhookChange>;

const fields = {
  id: Type.String({ format: 'uuid' }),
  client_id: IntegerId('Account'),
  ...settings,
  enabled: Type.Boolean({ description: 'Whether events are sent' }),
  all_accounts: Type.Boolean({
    description: 'Whether events of all accounts are sent: the platform administrator made the webhook',
  }),
  disabled_reason: nullable(
    Choice(['failing', 'gone'], {
      description:
        'Why the platform disabled it: `failing`: every attempt failed for five days; `gone`: the receiver answered 410',
    }),
  ),
  failing_since: nullable(Timestamp('Since when every attempt has failed')),
  previous_secret_until: nullable(Timestamp('Until when messages are signed with the former secret as well')),
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const Webhook = Named('Webhook', fields);
export type Webhook = Static<typeof Webhook>;

export const NewWebhook = Named('NewWebhook', {
  ...fields,
  secret: Type.String({ description: 'What messages are signed with. It is not shown again' }),
});
export type NewWebhook = Static<typeof NewWebhook>;

const nextPage = {
  next_page_token: nullable(Type.String({ description: 'For the next page; null on the last one' })),
};

const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  ),
  page_token: Type.Optional(
    Type.String({
      maxLength: 100,
      description: '`next_page_token` of the page before',
    }),
  ),
};

export const WebhookListQuery = Query(pageQuery);
export type WebhookListQuery = Static<typeof WebhookListQuery>;
export const WebhookList = Named('WebhookList', { ...nextPage, results: Type.Array(Webhook) });
export type WebhookList = Static<typeof WebhookList>;

export const RotateSecret = Input(
  'RotateWebhookSecret',
  {
    secret: Type.Optional(Secret),
    overlap_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: 86_400,
        description: 'Seconds for which messages are signed with the former secret as well',
      }),
    ),
  },
  { overlap_s: 3_600 },
);
export type RotateSecret = Static<typeof RotateSecret>;

const State = Choice(['pending', 'delivered', 'failed'], {
  description:
    'pending: it is being sent, or will be. delivered: the receiver answered 2xx. failed: it did not for 24 hours',
});

const deliveryFields = {
  id: IntegerId('Delivery'),
  event_id: Type.String({ format: 'uuid', description: 'ID of the event, sent as `webhook-id`' }),
  type: Type.String({ description: 'Type of the event', examples: ['tradewind.cluster.updated'] }),
  subject: Type.String({ description: 'Subject of the event' }),
  state: State,
  attempts: Type.Integer({ description: 'How often it was sent' }),
  created_at: Timestamp(),
  attempted_at: nullable(Timestamp('When it was last sent')),
  next_attempt_at: nullable(
    Timestamp('When it is sent next; null if it has ended, or waits for another event of its subject'),
  ),
  ended_at: nullable(Timestamp('When it was delivered or given up')),
  response_status: nullable(Type.Integer({ description: 'Status of the last answer; null without one' })),
  response_text: nullable(Type.String({ description: 'How the last answer that was not 2xx begins' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed' })),
};

export const Delivery = Named('WebhookDelivery', deliveryFields);
export type Delivery = Static<typeof Delivery>;

export const DeliveryWithEvent = Named('WebhookDeliveryWithEvent', { ...deliveryFields, event: Event });
export type DeliveryWithEvent = Static<typeof DeliveryWithEvent>;

export const DeliveryListQuery = Query({ state: Type.Optional(State), ...pageQuery });
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;
export const DeliveryList = Named('WebhookDeliveryList', { ...nextPage, results: Type.Array(Delivery) });
export type DeliveryList = Static<typeof DeliveryList>;

const WebhookId = Type.String({ description: 'Webhook ID' });
export const WebhookParams = Type.Object({ webhook_id: WebhookId });
export const DeliveryParams = Type.Object({
  webhook_id: WebhookId,
  delivery_id: IntegerId('Delivery ID'),
});

const textOf = (time: Date | null): string | null => time?.toISOString() ?? null;

export function presentedWebhook(row: WebhookRow, now: Date): Webhook {
  const { id, client_id, url, types, description, enabled, all_accounts, disabled_reason } = row;
  const { failing_since, previous_until, created_at, updated_at } = row;
  return {
    id,
    client_id,
    url,
    types,
    description,
    enabled,
    all_accounts,
    disabled_reason,
    failing_since: textOf(failing_since),
    previous_secret_until: previous_until && previous_until > now ? previous_until.toISOString() : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

export function presentedDelivery(row: DeliveryRow): Delivery {
  const { id, event_id, type, subject, state, attempts, status, answer, fault } = row;
  return {
    id,
    event_id,
    type,
    subject,
    state,
    attempts,
    created_at: row.created_at.toISOString(),
    attempted_at: textOf(row.attempted_at),
    next_attempt_at: textOf(row.next_at),
    ended_at: textOf(row.ended_at),
    response_status: status,
    response_text: answer,
    error: fault,
  };
}
