import type { ApiCommand } from '../api/api-command.ts';

const ONE = ['notificationSettingsId'];

export const resellers: readonly ApiCommand[] = [
  {
    name: 'reseller notification list',
    operation: 'listNotificationSettings',
    columns: { ID: 'id', TYPE: 'notification_type', EMAIL: 'email', ENABLED: 'enabled' },
  },
  { name: 'reseller notification get', operation: 'getNotificationSetting', arguments: ONE },
  { name: 'reseller notification create', operation: 'createNotificationSetting' },
  {
    name: 'reseller notification change',
    operation: 'updateNotificationSetting',
    arguments: ONE,
    summary: 'Change a notification setting',
  },
  { name: 'reseller notification delete', operation: 'deleteNotificationSetting', arguments: ONE },
];
