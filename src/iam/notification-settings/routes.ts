import { operations } from '../../http/operations.ts';
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

  const api = operations(app, { tags, params: NotificationSettingParams, access: 'resell', onRequest });

  api.get(BASE, 'listNotificationSettings', "List a reseller's notification settings", {
    params: ResellerParams,
    query: NotificationSettingListQuery,
    answer: NotificationSettingPage,
    handler: ({ principal, params, query }) =>
      listNotificationSettings(on, principal, params.resellerId, query),
  });

  api.post(BASE, 'createNotificationSetting', 'Create a notification setting', {
    description: 'Each call creates a setting, even if there is one with the same type and address.',
    params: ResellerParams,
    body: NotificationSettingInput,
    status: 201,
    answer: NotificationSetting,
    handler: async ({ principal, params, body }) =>
      await createNotificationSetting(on, principal, params.resellerId, body),
  });

  api.get(ONE, 'getNotificationSetting', 'Get a notification setting', {
    versioned: VERSIONED,
    answer: NotificationSetting,
    handler: ({ principal, params }) => getNotificationSetting(on, principal, params),
  });

  api.put(ONE, 'replaceNotificationSetting', 'Replace a notification setting', {
    body: NotificationSettingInput,
    answer: NotificationSetting,
    handler: ({ principal, params, body }) => replaceNotificationSetting(on, principal, params, body),
  });

  api.patch(ONE, 'updateNotificationSetting', "Update a reseller's notification settings", {
    description: 'Type and address are required here too. `enabled` does not change if it is left out.',
    body: NotificationSettingInput,
    answer: NotificationSetting,
    handler: ({ principal, params, body }) => updateNotificationSetting(on, principal, params, body),
  });

  api.delete(ONE, 'deleteNotificationSetting', 'Delete a notification setting', {
    handler: ({ principal, params }) => deleteNotificationSetting(on, principal, params),
  });
}
