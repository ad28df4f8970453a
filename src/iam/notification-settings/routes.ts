import { type Selectable, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Sql, Transaction } from '../../db/database.ts';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { pathGuard } from '../../http/admission.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { Email, requireEmail } from '../../lib/email.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page.ts';
import { isToken, newPersonalToken, type PersonalToken, readPersonalToken } from '../../lib/personal-token.ts';
import type { Versioned } from '../../lib/versioned.ts';
import { Choice, Input, IntegerId, Named, OptionalFlag, pageFields, pageQuery, Query } from '../../lib/wire.ts';
import { MAIL_KINDS } from '../../mail/kinds.ts';
import { wordsOf } from '../../mail/sending/queue.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { nameOfReseller } from '../accounts/service.ts';

const NotificationType = Choice(['deletion_request', 'failed_login'], {
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
    enabled: OptionalFlag({
      description: 'If left out: true for POST and PUT; PATCH keeps the current value.',
      examples: [true],
    }),
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
      Choice([...ORDERINGS, ...ORDERINGS.map((field) => `-${field}`)], {
        default: 'id',
        description: 'Field to order by; a minus before it reverses the order.',
      }),
    ),
  ),
});
export type NotificationSettingListQuery = Static<typeof NotificationSettingListQuery>;

export const NotificationMail = Named('NotificationMail', {
  from: Type.String({ description: "Sender's address", examples: ['noreply@example.com'] }),
  subject: Type.String({ examples: ['Failed login of jo@example.com'] }),
  text: Type.String({ description: 'The mail as plain text' }),
  html: Type.String({ description: 'The same as a page' }),
});
export type NotificationMail = Static<typeof NotificationMail>;

export const NotificationMailParams = Type.Object({
  resellerId: IntegerId('Reseller ID'),
  notification_type: NotificationType,
});

const subscriptionToken = `subscription_1_${'0f'.repeat(32)}`;
const ChangeSubscription = Input(
  'ChangeMailSubscription',
  {
    token: Type.String({
      maxLength: 100,
      pattern: '^subscription_[0-9]{1,15}_[0-9a-f]{64}$',
      rule: 'Must be the token of the mail, with subscription_ before it.',
      description: "The token in the mail's link",
      examples: [subscriptionToken],
    }),
    enabled: Type.Boolean({ description: 'Whether such mails are to come', examples: [false] }),
  },
  { token: subscriptionToken, enabled: false },
);

export const ResellerParams = Type.Object({ resellerId: IntegerId('Reseller ID') });
export const NotificationSettingParams = Type.Object({
  resellerId: IntegerId('Reseller ID'),
  notificationSettingsId: IntegerId('Setting ID'),
});
export type SettingPath = Static<typeof NotificationSettingParams>;

/*
 * Whom a reseller wants to be notified of what. Settings may be identical. Every function throws ForbiddenError for a
 * reseller that isn't the caller's and NotFoundError for an unknown setting.
 */

const MOST_OF_RESELLER = 1_000;

/** Throws the same error whether the reseller exists or not. @throws ForbiddenError */
export async function requireReseller(on: Platform, principal: Principal, resellerId: number): Promise<void> {
  if (principal.resellerId === resellerId) return;
  if (principal.platformAdministrator && (await nameOfReseller(on.database.sql, resellerId)) !== undefined) return;
  throw new ForbiddenError(`You may not manage reseller ${resellerId}`);
}

/** PATCH: omitted fields stay. @throws InvalidError */
export async function updateNotificationSetting(
  on: Platform,
  principal: Principal,
  path: SettingPath,
  content: Partial<SettingContent> & { email: string },
): Promise<NotificationSetting> {
  await requireReseller(on, principal, path.resellerId);
  requireEmail(content.email);
  return on.database.accept(async (tx) => found(await updateSetting(tx.sql, path, content), path));
}

export async function listNotificationSettings(
  on: Platform,
  principal: Principal,
  resellerId: number,
  query: NotificationSettingListQuery,
): Promise<NotificationSettingPage> {
  await requireReseller(on, principal, resellerId);
  const { limit = 100, offset = 0, ordering = 'id' } = query;
  const field = ordering.replace('-', '') as Exclude<typeof ordering, `-${string}`>;
  const { count, rows } = await listSettings(on.database.sql, resellerId, {
    // All settings of one list have the same reseller.
    column: field === 'reseller' ? 'id' : field,
    direction: ordering.startsWith('-') ? 'desc' : 'asc',
    limit,
    offset,
  });
  const path = `/iam/reselling/resellers/${resellerId}/notification_settings`;
  const rest = ordering === 'id' ? {} : { ordering };
  return {
    count,
    ...pagesAround(path, { limit, offset }, count, rest),
    results: rows.map(presented),
  };
}

/** @throws InvalidError; ConflictError if the reseller has too many */
export async function createNotificationSetting(
  on: Platform,
  principal: Principal,
  resellerId: number,
  input: NotificationSettingInput,
): Promise<NotificationSetting> {
  await requireReseller(on, principal, resellerId);
  requireEmail(input.email);
  const row = await on.database.accept(async (tx) => {
    if ((await countForNew(tx, resellerId)) >= MOST_OF_RESELLER) {
      throw new ConflictError(
        `Reseller ${resellerId} has ${MOST_OF_RESELLER} notification settings, which is the limit; delete one first`,
      );
    }
    const made = await insertSetting(tx.sql, resellerId, { enabled: true, ...input }, tx.now);
    tx.made(made.id);
    return made;
  });
  return presented(row);
}

export async function getNotificationSetting(
  on: Platform,
  principal: Principal,
  path: SettingPath,
): Promise<NotificationSetting> {
  await requireReseller(on, principal, path.resellerId);
  return found(await findSetting(on.database.sql, path), path);
}

/** PUT: omitted fields get their defaults. @throws InvalidError */
export const replaceNotificationSetting = (
  on: Platform,
  principal: Principal,
  path: SettingPath,
  input: NotificationSettingInput,
): Promise<NotificationSetting> => updateNotificationSetting(on, principal, path, { enabled: true, ...input });

export async function deleteNotificationSetting(on: Platform, principal: Principal, path: SettingPath): Promise<void> {
  await requireReseller(on, principal, path.resellerId);
  await on.database.accept(async (tx) => found(await deleteSetting(tx.sql, path), path));
}

/** Returns the mail about an invented event, from the templates of this server. */
export async function previewNotificationMail(
  on: Platform,
  principal: Principal,
  { resellerId, notification_type }: Static<typeof NotificationMailParams>,
): Promise<NotificationMail> {
  await requireReseller(on, principal, resellerId);
  const letterhead = on.letterhead();
  const reseller = (await nameOfReseller(on.database.sql, resellerId)) ?? '';
  const { example } = MAIL_KINDS[notification_type];
  const { subject, text, html } = wordsOf(letterhead, notification_type, { reseller, company: 'Example Ltd' }, example);
  return { from: letterhead.from, subject, text, html };
}

/** For whoever gets the mails of a setting. @throws InvalidError */
async function changeSubscription(
  on: Platform,
  { token: text, enabled }: Static<typeof ChangeSubscription>,
): Promise<void> {
  const token = readPersonalToken('subscription', text);
  await on.database.transaction(async (tx) => {
    const setting = token && (await findByToken(tx.sql, token));
    if (!setting) throw new InvalidError({ token: ['Not valid: there are no such mails any more.'] });
    await updateSetting(tx.sql, { resellerId: setting.reseller_id, notificationSettingsId: setting.id }, { enabled });
  });
}

async function findByToken(db: Sql, token: PersonalToken): Promise<SettingRow | undefined> {
  const row = await db.selectFrom('notification_settings').selectAll().where('id', '=', token.id).executeTakeFirst();
  if (!row?.key) return undefined;
  return isToken(token, newPersonalToken('subscription', row.id, row.key).secretHash) ? row : undefined;
}

function found(row: SettingRow | undefined, { notificationSettingsId: id }: SettingPath) {
  if (!row) throw new NotFoundError('Notification setting', id);
  return presented(row);
}

function presented(row: SettingRow): NotificationSetting {
  const { id, reseller_id: reseller, notification_type, email, enabled } = row;
  return { id, reseller, notification_type, email, enabled };
}

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
    handler: ({ principal, params, query }) => listNotificationSettings(on, principal, params.resellerId, query),
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

  api.get(
    '/tradewind/v1/resellers/:resellerId/notification_mails/:notification_type',
    'previewNotificationMail',
    'Preview a notification mail',
    {
      description: 'As it would be sent, about an invented event. Nothing is sent.',
      params: NotificationMailParams,
      answer: NotificationMail,
      handler: ({ principal, params }) => previewNotificationMail(on, principal, params),
    },
  );

  operations(app, { tags, access: 'public' }).post(
    '/tradewind/v1/mail_subscription',
    'changeMailSubscription',
    'End mails of a notification setting',
    {
      description: "With the token in the mail's link, which says that the mails reach you. Or lets them come again.",
      body: ChangeSubscription,
      handler: ({ body }) => changeSubscription(on, body),
    },
  );

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

export type SettingRow = Selectable<Tables['notification_settings']>;
export type SettingContent = Pick<SettingRow, 'notification_type' | 'email' | 'enabled'>;

export async function listSettings(
  db: Sql,
  resellerId: number,
  page: {
    column: 'id' | 'notification_type' | 'email' | 'enabled';
    direction: 'asc' | 'desc';
    limit: number;
    offset: number;
  },
): Promise<{ count: number; rows: SettingRow[] }> {
  const ordered = db
    .selectFrom('notification_settings')
    .selectAll()
    .where('reseller_id', '=', resellerId)
    .orderBy(page.column, page.direction)
    .orderBy('id', page.direction);
  return pageWithCount(ordered, page);
}

/** Counts the settings of a reseller, and lets nobody else make one for it before the transaction ends. */
export async function countForNew(tx: Transaction, resellerId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tradewind settings ${resellerId}`}, 0))`.execute(tx.sql);
  const { count } = await tx.sql
    .selectFrom('notification_settings')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('reseller_id', '=', resellerId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertSetting(db: Sql, resellerId: number, content: SettingContent, now: Date) {
  return db
    .insertInto('notification_settings')
    .values({ ...content, reseller_id: resellerId, created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const meant = ({ resellerId, notificationSettingsId: id }: SettingPath) => ({ reseller_id: resellerId, id });

export async function findSetting(db: Sql, path: SettingPath): Promise<SettingRow | undefined> {
  return db
    .selectFrom('notification_settings')
    .selectAll()
    .where((row) => row.and(meant(path)))
    .executeTakeFirst();
}

/** Returns undefined if there is no such setting. Fields that `content` omits stay. */
export async function updateSetting(db: Sql, path: SettingPath, content: Partial<SettingContent>) {
  return db
    .updateTable('notification_settings')
    .set(content)
    .where((row) => row.and(meant(path)))
    .returningAll()
    .executeTakeFirst();
}

/** Returns undefined if there is no such setting. */
export async function deleteSetting(db: Sql, path: SettingPath): Promise<SettingRow | undefined> {
  return db
    .deleteFrom('notification_settings')
    .where((row) => row.and(meant(path)))
    .returningAll()
    .executeTakeFirst();
}
