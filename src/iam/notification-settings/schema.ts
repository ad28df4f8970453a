import { type Static, Type } from 'typebox';
import { Email } from '../../lib/email.ts';
import { IntegerId, pageFields } from '../../lib/wire.ts';

export const DEFAULT_LIMIT = 100;

const NotificationType = Type.Enum(['deletion_request', 'failed_login'], {
  type: 'string',
  description:
    '`deletion_request`: a client asked for the deletion of its account, or the account was deleted. `failed_login`: somebody tried to sign in and failed.',
  examples: ['failed_login'],
});

/** One body for POST, PUT and PATCH. */
export const NotificationSettingInput = Type.Object(
  {
    notification_type: NotificationType,
    email: Email('Address that is told'),
    enabled: Type.Optional(
      Type.Boolean({
        description: 'When left out: true for POST and PUT; PATCH keeps what is there.',
        examples: [true],
      }),
    ),
  },
  {
    title: 'NotificationSettingInput',
    additionalProperties: false,
    examples: [{ notification_type: 'failed_login', email: 'security@example.com', enabled: true }],
  },
);
export type NotificationSettingInput = Static<typeof NotificationSettingInput>;

export const NotificationSetting = Type.Object(
  {
    id: Type.Integer({ description: 'Setting ID', examples: [1] }),
    reseller: Type.Integer({ description: 'Reseller ID', examples: [1] }),
    notification_type: NotificationType,
    email: Type.String({ description: 'Address that is told', examples: ['security@example.com'] }),
    enabled: Type.Boolean({ description: 'Whether it is told at present', examples: [true] }),
  },
  { title: 'NotificationSetting' },
);
export type NotificationSetting = Static<typeof NotificationSetting>;

export const NotificationSettingPage = Type.Object(
  {
    ...pageFields,
    results: Type.Array(NotificationSetting),
  },
  { title: 'NotificationSettingPage' },
);
export type NotificationSettingPage = Static<typeof NotificationSettingPage>;

export const ORDERINGS = ['id', 'reseller', 'notification_type', 'email', 'enabled'] as const;
export type Ordering = (typeof ORDERINGS)[number] | `-${(typeof ORDERINGS)[number]}`;

export const NotificationSettingListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: DEFAULT_LIMIT,
        description: 'Most results to answer',
      }),
    ),
    offset: Type.Optional({ ...IntegerId('Results to skip before the first'), default: 0 }),
    ordering: Type.Optional(
      Type.Unsafe<Ordering>(
        Type.Enum([...ORDERINGS, ...ORDERINGS.map((field) => `-${field}`)], {
          type: 'string',
          default: 'id',
          description: 'Field to order by; with a minus before it the other way round.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
);
export type NotificationSettingListQuery = Static<typeof NotificationSettingListQuery>;

export const ResellerParams = Type.Object({ resellerId: IntegerId('Reseller ID') });
export const NotificationSettingParams = Type.Object({
  resellerId: IntegerId('Reseller ID'),
  notificationSettingsId: IntegerId('Setting ID'),
});
