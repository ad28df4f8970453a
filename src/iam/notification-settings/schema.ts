import { type Static, Type } from 'typebox';
import { Email } from '../../lib/email.ts';
import { Input, IntegerId, Named, pageFields, pageQuery, Query } from '../../lib/wire.ts';

const NotificationType = Type.Enum(['deletion_request', 'failed_login'], {
  type: 'string',
  description:
    '`deletion_request`: a client asked for the deletion of its account, or the account was deleted. `failed_login`: somebody tried to sign in and failed.',
  examples: ['failed_login'],
});

/** One body for POST, PUT and PATCH. */
export const NotificationSettingInput = Input(
  'NotificationSettingInput',
  {
    notification_type: NotificationType,
    email: Email('Address to notify'),
    enabled: Type.Optional(
      Type.Boolean({
        description: 'If left out: true for POST and PUT; PATCH keeps the current value.',
        examples: [true],
      }),
    ),
  },
  { notification_type: 'failed_login', email: 'security@example.com', enabled: true },
);
export type NotificationSettingInput = Static<typeof NotificationSettingInput>;

export const NotificationSetting = Named('NotificationSetting', {
  id: Type.Integer({ description: 'Setting ID', examples: [1] }),
  reseller: Type.Integer({ description: 'Reseller ID', examples: [1] }),
  notification_type: NotificationType,
  email: Type.String({ description: 'Address to notify', examples: ['security@example.com'] }),
  enabled: Type.Boolean({ description: 'Whether the setting is on', examples: [true] }),
});
export type NotificationSetting = Static<typeof NotificationSetting>;

export const NotificationSettingPage = Named('NotificationSettingPage', {
  ...pageFields,
  results: Type.Array(NotificationSetting),
});
export type NotificationSettingPage = Static<typeof NotificationSettingPage>;

export const ORDERINGS = ['id', 'reseller', 'notification_type', 'email', 'enabled'] as const;
export type Ordering = (typeof ORDERINGS)[number] | `-${(typeof ORDERINGS)[number]}`;

export const NotificationSettingListQuery = Query({
  ...pageQuery(),
  ordering: Type.Optional(
    Type.Unsafe<Ordering>(
      Type.Enum([...ORDERINGS, ...ORDERINGS.map((field) => `-${field}`)], {
        type: 'string',
        default: 'id',
        description: 'Field to order by; a minus before it reverses the order.',
      }),
    ),
  ),
});
export type NotificationSettingListQuery = Static<typeof NotificationSettingListQuery>;

export const ResellerParams = Type.Object({ resellerId: IntegerId('Reseller ID') });
export const NotificationSettingParams = Type.Object({
  resellerId: IntegerId('Reseller ID'),
  notificationSettingsId: IntegerId('Setting ID'),
});
export type SettingPath = Static<typeof NotificationSettingParams>;
