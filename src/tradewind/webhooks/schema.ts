import { type Static, Type } from 'typebox';
import * as wire from '../../lib/wire.ts';
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

export const WebhookInput = wire.Input(
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

export const WebhookChange = wire.Input(
  'WebhookChange',
  {
    url: Type.Optional(settings.url),
    types: Type.Optional(settings.types),
    description: Type.Optional(settings.description),
    enabled: wire.OptionalFlag({
      description:
        'Whether events are sent. What happens while it is off is never sent; what waited before goes on within its 24 hours',
    }),
  },
  { types: ['tradewind.cluster.*', 'tradewind.task.*'] },
);
export type WebhookChange = Static<typeof WebhookChange>;

const fields = {
  id: Type.String({ format: 'uuid' }),
  client_id: wire.IntegerId('Account'),
  ...settings,
  enabled: Type.Boolean({ description: 'Whether events are sent' }),
  all_accounts: Type.Boolean({
    description: 'Whether events of all accounts are sent: the platform administrator made the webhook',
  }),
  disabled_reason: wire.nullable(
    wire.Choice(['failing', 'gone'], {
      description:
        'Why the platform disabled it: `failing`: every attempt failed for five days; `gone`: the receiver answered 410',
    }),
  ),
  failing_since: wire.nullable(wire.Timestamp('Since when every attempt has failed')),
  previous_secret_until: wire.nullable(wire.Timestamp('Until when messages are signed with the former secret as well')),
  created_at: wire.Timestamp(),
  updated_at: wire.Timestamp(),
};

export const Webhook = wire.Named('Webhook', fields);
export type Webhook = Static<typeof Webhook>;

export const NewWebhook = wire.Named('NewWebhook', {
  ...fields,
  secret: Type.String({ description: 'What messages are signed with. It is not shown again' }),
});
export type NewWebhook = Static<typeof NewWebhook>;

const nextPage = {
  next_page_token: wire.TextOrNull({ description: 'For the next page; null on the last one' }),
};

const pageQuery = {
  limit: wire.OptionalInteger({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  page_token: wire.OptionalText({
    maxLength: 100,
    description: '`next_page_token` of the page before',
  }),
};

export const WebhookListQuery = wire.Query(pageQuery);
export type WebhookListQuery = Static<typeof WebhookListQuery>;
export const WebhookList = wire.Named('WebhookList', { ...nextPage, results: Type.Array(Webhook) });
export type WebhookList = Static<typeof WebhookList>;

export const RotateSecret = wire.Input(
  'RotateWebhookSecret',
  {
    secret: Type.Optional(Secret),
    overlap_s: wire.OptionalInteger({
      minimum: 0,
      maximum: 604_800,
      default: 86_400,
      description: 'Seconds for which messages are signed with the former secret as well',
    }),
  },
  { overlap_s: 3_600 },
);
export type RotateSecret = Static<typeof RotateSecret>;

const State = wire.Choice(['pending', 'delivered', 'failed'], {
  description:
    'pending: it is being sent, or will be. delivered: the receiver answered 2xx. failed: it did not for 24 hours',
});

const deliveryFields = {
  id: wire.IntegerId('Delivery'),
  event_id: Type.String({ format: 'uuid', description: 'ID of the event, sent as `webhook-id`' }),
  type: Type.String({ description: 'Type of the event', examples: ['tradewind.cluster.updated'] }),
  subject: Type.String({ description: 'Subject of the event' }),
  state: State,
  attempts: Type.Integer({ description: 'How often it was sent' }),
  created_at: wire.Timestamp(),
  attempted_at: wire.nullable(wire.Timestamp('When it was last sent')),
  next_attempt_at: wire.nullable(
    wire.Timestamp('When it is sent next; null if it has ended, or waits for another event of its subject'),
  ),
  ended_at: wire.nullable(wire.Timestamp('When it was delivered or given up')),
  response_status: wire.IntegerOrNull({ description: 'Status of the last answer; null without one' }),
  response_text: wire.TextOrNull({ description: 'How the last answer that was not 2xx begins' }),
  error: wire.TextOrNull({ description: 'Why the last attempt failed' }),
};

export const Delivery = wire.Named('WebhookDelivery', deliveryFields);
export type Delivery = Static<typeof Delivery>;

export const DeliveryWithEvent = wire.Named('WebhookDeliveryWithEvent', { ...deliveryFields, event: Event });
export type DeliveryWithEvent = Static<typeof DeliveryWithEvent>;

export const DeliveryListQuery = wire.Query({ state: Type.Optional(State), ...pageQuery });
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;
export const DeliveryList = wire.Named('WebhookDeliveryList', { ...nextPage, results: Type.Array(Delivery) });
export type DeliveryList = Static<typeof DeliveryList>;

const WebhookId = Type.String({ description: 'Webhook ID' });
export const WebhookParams = Type.Object({ webhook_id: WebhookId });
export const DeliveryParams = Type.Object({
  webhook_id: WebhookId,
  delivery_id: wire.IntegerId('Delivery ID'),
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
