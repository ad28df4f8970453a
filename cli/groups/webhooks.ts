import type { ApiCommand } from '../api/api-command.ts';

/** --url is the address of the server. */
const RECEIVER = {
  parts: { receiver: { at: ['url'], text: 'Where events are sent to', value: 'URL' } },
  without: ['url'],
};

export const webhooks: readonly ApiCommand[] = [
  {
    name: 'webhook list',
    operation: 'listWebhooks',
    columns: { ID: 'id', URL: 'url', TYPES: 'types', ENABLED: 'enabled', FAILING: 'failing_since' },
  },
  { name: 'webhook get', operation: 'getWebhook', arguments: ['webhook_id'] },
  { name: 'webhook create', operation: 'createWebhook', ...RECEIVER },
  { name: 'webhook change', operation: 'updateWebhook', arguments: ['webhook_id'], ...RECEIVER },
  { name: 'webhook delete', operation: 'deleteWebhook', arguments: ['webhook_id'] },
  { name: 'webhook rotate-secret', operation: 'rotateWebhookSecret', arguments: ['webhook_id'] },
  { name: 'webhook test', operation: 'testWebhook', arguments: ['webhook_id'] },
  {
    name: 'webhook deliveries',
    operation: 'listWebhookDeliveries',
    arguments: ['webhook_id'],
    columns: {
      ID: 'id',
      TYPE: 'type',
      SUBJECT: 'subject',
      STATE: 'state',
      ATTEMPTS: 'attempts',
      STATUS: 'response_status',
      ERROR: 'error',
    },
  },
  { name: 'webhook delivery', operation: 'getWebhookDelivery', arguments: ['webhook_id', 'delivery_id'] },
  { name: 'webhook redeliver', operation: 'redeliverWebhook', arguments: ['webhook_id', 'delivery_id'] },
];
