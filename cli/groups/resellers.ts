import type { ApiCommand } from '../api/api-command.ts';

const ONE = ['notificationSettingsId'];

export const resellers: readonly ApiCommand[] = [
  {
    name: 'reseller list',
    operation: 'listResellers',
    columns: { ID: 'id', NAME: 'name', CLIENT: 'client_id', CLIENTS: 'clients', CREATED: 'created_at' },
  },
  { name: 'reseller get', operation: 'getReseller', arguments: ['reseller_id'] },
  { name: 'reseller create', operation: 'createReseller' },
  { name: 'reseller delete', operation: 'deleteReseller', arguments: ['reseller_id'], tasks: true },
  {
    name: 'reseller seller list',
    operation: 'listSellers',
    columns: { ID: 'id', EMAIL: 'email', NAME: 'full_name', ACTIVATED: 'activated', DELETED: 'deleted' },
  },
  { name: 'reseller seller get', operation: 'getSeller', arguments: ['sellerId'] },
  { name: 'reseller seller invite', operation: 'createSeller' },
  { name: 'reseller seller change', operation: 'updateSeller', arguments: ['sellerId'] },
  { name: 'reseller seller delete', operation: 'deleteSeller', arguments: ['sellerId'] },
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
