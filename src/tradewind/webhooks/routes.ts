import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import type { Versioned } from '../../lib/versioned.ts';
import type { Platform } from '../../platform.ts';
import {
  Delivery,
  DeliveryList,
  DeliveryListQuery,
  DeliveryParams,
  DeliveryWithEvent,
  NewWebhook,
  RotateSecret,
  Webhook,
  WebhookChange,
  WebhookInput,
  WebhookList,
  WebhookListQuery,
  WebhookParams,
} from './schema.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  requireOwnAccount,
  rotateWebhook,
  testWebhook,
} from './service.ts';

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
    requireOwnAccount(on, principal, (params as { webhook_id: string }).webhook_id);

  app.get(BASE, {
    config: { access },
    schema: {
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description:
        'Those of the account, the oldest first. The platform administrator sees those of all accounts.',
      tags,
      querystring: WebhookListQuery,
      response: { 200: WebhookList },
    },
    handler: ({ principal, query }) => listWebhooks(on, principal, query),
  });

  app.post(BASE, {
    config: { access, secretAnswer: true },
    schema: {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'From now on, each event of these types that the account may see is sent by POST, signed by Standard Webhooks. The answer shows the secret this once.',
      tags,
      body: WebhookInput,
      response: { 201: NewWebhook },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await createWebhook(on, principal, body)),
  });

  app.get(ONE, {
    config: { access, versioned: VERSIONED },
    schema: {
      operationId: 'getWebhook',
      summary: 'Get a webhook',
      tags,
      params: WebhookParams,
      response: { 200: Webhook },
    },
    handler: ({ principal, params }) => getWebhook(on, principal, params.webhook_id),
  });

  app.patch(ONE, {
    config: { access },
    preHandler,
    schema: {
      operationId: 'updateWebhook',
      summary: 'Change a webhook',
      description:
        'Another address, or switching it on again, forgets former failures: what waits is sent at once.',
      tags,
      params: WebhookParams,
      body: WebhookChange,
      response: { 200: Webhook },
    },
    handler: ({ principal, params, body }) => changeWebhook(on, principal, params.webhook_id, body),
  });

  app.delete(ONE, {
    config: { access },
    preHandler,
    schema: {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'What has not been sent is not sent any more.',
      tags,
      params: WebhookParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await deleteWebhook(on, principal, params.webhook_id);
      return reply.code(204).send(null);
    },
  });

  app.post(`${ONE}/rotate_secret`, {
    config: { access, secretAnswer: true },
    preHandler,
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description:
        'For a while, messages have a signature with each of the two secrets. The answer shows the new one this once.',
      tags,
      params: WebhookParams,
      body: RotateSecret,
      response: { 200: NewWebhook },
    },
    handler: ({ principal, params, body }) => rotateWebhook(on, principal, params.webhook_id, body),
  });

  app.post(`${ONE}/test`, {
    config: { access },
    preHandler,
    schema: {
      operationId: 'testWebhook',
      summary: 'Test a webhook',
      description:
        'Sends an event of the type `tradewind.webhook.test`, also if the webhook is disabled. Read the delivery to learn how that went.',
      tags,
      params: WebhookParams,
      response: { 201: Delivery },
    },
    handler: async ({ principal, params }, reply) =>
      reply.code(201).send(await testWebhook(on, principal, params.webhook_id)),
  });

  app.get(DELIVERIES, {
    config: { access },
    schema: {
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description: 'The newest first. They are kept for seven days.',
      tags,
      params: WebhookParams,
      querystring: DeliveryListQuery,
      response: { 200: DeliveryList },
    },
    handler: ({ principal, params, query }) => listDeliveries(on, principal, params.webhook_id, query),
  });

  app.get(`${DELIVERIES}/:delivery_id`, {
    config: { access },
    schema: {
      operationId: 'getWebhookDelivery',
      summary: 'Get a delivery of a webhook',
      tags,
      params: DeliveryParams,
      response: { 200: DeliveryWithEvent },
    },
    handler: ({ principal, params }) => getDelivery(on, principal, params.webhook_id, params.delivery_id),
  });

  app.post(`${DELIVERIES}/:delivery_id/redeliver`, {
    config: { access },
    preHandler,
    schema: {
      operationId: 'redeliverWebhook',
      summary: 'Send an event again',
      description:
        'Sends it at once, with the same `webhook-id`, also if it was delivered before or has failed.',
      tags,
      params: DeliveryParams,
      response: { 200: Delivery },
    },
    handler: ({ principal, params }) => redeliver(on, principal, params.webhook_id, params.delivery_id),
  });
}
