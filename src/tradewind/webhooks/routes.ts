import type { FastifyRequest } from 'fastify';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Versioned } from '../../lib/versioned.ts';
import type { Platform } from '../../platform.ts';
import * as schema from './schema.ts';
import * as webhooks from './service.ts';

const BASE = '/tradewind/v1/webhooks';
const ONE = `${BASE}/:webhook_id`;
const DELIVERIES = `${ONE}/deliveries`;
const VERSIONED: Versioned = { table: 'webhooks', columns: { webhook_id: 'id' }, uuid: 'webhook_id' };
const tags = ['Webhooks'];

/** They see what only administrators see, and their addresses may be secret. */
const access = 'administer';

export function webhookRoutes(app: Api, on: Platform): void {
  // Before anything is said of it: a version, for example.
  const preHandler = ({ principal, params }: FastifyRequest) =>
    webhooks.requireOwnAccount(on, principal, (params as { webhook_id: string }).webhook_id);

  const api = operations(app, { tags, params: schema.WebhookParams, access: access });

  api.get(BASE, 'listWebhooks', 'List webhooks', {
    description: 'Those of the account, the oldest first. The platform administrator sees those of all accounts.',
    query: schema.WebhookListQuery,
    answer: schema.WebhookList,
    handler: ({ principal, query }) => webhooks.listWebhooks(on, principal, query),
  });

  api.post(BASE, 'createWebhook', 'Create a webhook', {
    secretAnswer: true,
    description:
      'From now on, each event of these types that the account may see is sent by POST, signed by Standard Webhooks. The answer shows the secret this once.',
    body: schema.WebhookInput,
    status: 201,
    answer: schema.NewWebhook,
    handler: async ({ principal, body }) => await webhooks.createWebhook(on, principal, body),
  });

  api.get(ONE, 'getWebhook', 'Get a webhook', {
    versioned: VERSIONED,
    answer: schema.Webhook,
    handler: ({ principal, params }) => webhooks.getWebhook(on, principal, params.webhook_id),
  });

  api.patch(ONE, 'updateWebhook', 'Change a webhook', {
    description: 'Another address, or switching it on again, forgets former failures: what waits is sent at once.',
    body: schema.WebhookChange,
    answer: schema.Webhook,
    preHandler,
    handler: ({ principal, params, body }) => webhooks.changeWebhook(on, principal, params.webhook_id, body),
  });

  api.delete(ONE, 'deleteWebhook', 'Delete a webhook', {
    description: 'What has not been sent is not sent any more.',
    preHandler,
    handler: ({ principal, params }) => webhooks.deleteWebhook(on, principal, params.webhook_id),
  });

  api.post(`${ONE}/rotate_secret`, 'rotateWebhookSecret', 'Rotate the secret of a webhook', {
    secretAnswer: true,
    description:
      'For a while, messages have a signature with each of the two secrets. The answer shows the new one this once.',
    body: schema.RotateSecret,
    answer: schema.NewWebhook,
    preHandler,
    handler: ({ principal, params, body }) => webhooks.rotateWebhook(on, principal, params.webhook_id, body),
  });

  api.post(`${ONE}/test`, 'testWebhook', 'Test a webhook', {
    description:
      'Sends an event of the type `tradewind.webhook.test`, also if the webhook is disabled. Read the delivery to learn how that went.',
    status: 201,
    answer: schema.Delivery,
    preHandler,
    handler: async ({ principal, params }) => await webhooks.testWebhook(on, principal, params.webhook_id),
  });

  api.get(DELIVERIES, 'listWebhookDeliveries', 'List the deliveries of a webhook', {
    description: 'The newest first. They are kept for seven days.',
    query: schema.DeliveryListQuery,
    answer: schema.DeliveryList,
    handler: ({ principal, params, query }) => webhooks.listDeliveries(on, principal, params.webhook_id, query),
  });

  api.get(`${DELIVERIES}/:delivery_id`, 'getWebhookDelivery', 'Get a delivery of a webhook', {
    params: schema.DeliveryParams,
    answer: schema.DeliveryWithEvent,
    handler: ({ principal, params }) => webhooks.getDelivery(on, principal, params.webhook_id, params.delivery_id),
  });

  api.post(`${DELIVERIES}/:delivery_id/redeliver`, 'redeliverWebhook', 'Send an event again', {
    description: 'Sends it at once, with the same `webhook-id`, also if it was delivered before or has failed.',
    params: schema.DeliveryParams,
    answer: schema.Delivery,
    preHandler,
    handler: ({ principal, params }) => webhooks.redeliver(on, principal, params.webhook_id, params.delivery_id),
  });
}
