import { Type } from 'typebox';
import { pathGuard } from '../../http/path-guard.ts';
import type { Api } from '../../http/server.ts';
import type { Versioned } from '../../lib/versioned.ts';
import type { Platform } from '../../platform.ts';
import {
  NotificationSetting,
  NotificationSettingInput,
  NotificationSettingListQuery,
  NotificationSettingPage,
  NotificationSettingParams,
  ResellerParams,
} from './schema.ts';
import {
  createNotificationSetting,
  deleteNotificationSetting,
  getNotificationSetting,
  listNotificationSettings,
  replaceNotificationSetting,
  requireReseller,
  updateNotificationSetting,
} from './service.ts';

const BASE = '/iam/reselling/resellers/:resellerId/notification_settings';
const ONE = `${BASE}/:notificationSettingsId`;
const VERSIONED: Versioned = {
  table: 'notification_settings',
  columns: { resellerId: 'reseller_id', notificationSettingsId: 'id' },
};
const tags = ['Notification settings'];

export function notificationSettingRoutes(app: Api, on: Platform): void {
  const onRequest = pathGuard(on, 'resellerId', requireReseller);

  app.get(BASE, {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'listNotificationSettings',
      summary: "List a reseller's notification settings",
      tags,
      params: ResellerParams,
      querystring: NotificationSettingListQuery,
      response: { 200: NotificationSettingPage },
    },
    handler: ({ principal, params, query }) =>
      listNotificationSettings(on, principal, params.resellerId, query),
  });

  app.post(BASE, {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'createNotificationSetting',
      summary: 'Create a notification setting',
      description: 'Each call creates a setting, even if there is one with the same type and address.',
      tags,
      params: ResellerParams,
      body: NotificationSettingInput,
      response: { 201: NotificationSetting },
    },
    handler: async ({ principal, params, body }, reply) =>
      reply.code(201).send(await createNotificationSetting(on, principal, params.resellerId, body)),
  });

  app.get(ONE, {
    config: { access: 'resell', versioned: VERSIONED },
    onRequest,
    schema: {
      operationId: 'getNotificationSetting',
      summary: 'Get a notification setting',
      tags,
      params: NotificationSettingParams,
      response: { 200: NotificationSetting },
    },
    handler: ({ principal, params }) => getNotificationSetting(on, principal, params),
  });

  app.put(ONE, {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'replaceNotificationSetting',
      summary: 'Replace a notification setting',
      tags,
      params: NotificationSettingParams,
      body: NotificationSettingInput,
      response: { 200: NotificationSetting },
    },
    handler: ({ principal, params, body }) => replaceNotificationSetting(on, principal, params, body),
  });

  app.patch(ONE, {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'updateNotificationSetting',
      summary: "Update a reseller's notification settings",
      description: 'Type and address are required here too. `enabled` does not change if it is left out.',
      tags,
      params: NotificationSettingParams,
      body: NotificationSettingInput,
      response: { 200: NotificationSetting },
    },
    handler: ({ principal, params, body }) => updateNotificationSetting(on, principal, params, body),
  });

  app.delete(ONE, {
    config: { access: 'resell' },
    onRequest,
    schema: {
      operationId: 'deleteNotificationSetting',
      summary: 'Delete a notification setting',
      tags,
      params: NotificationSettingParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await deleteNotificationSetting(on, principal, params);
      return reply.code(204).send(null);
    },
  });
}
