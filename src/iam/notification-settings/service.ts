import { requireEmail } from '../../lib/email.ts';
import { ConflictError, ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { resellerExists } from '../accounts/service.ts';
import type {
  NotificationSettingInput as Input,
  NotificationSetting,
  NotificationSettingListQuery,
  NotificationSettingPage,
  SettingPath,
} from './schema.ts';
import * as store from './store.ts';

/*
 * Whom a reseller wants to be notified of what. Settings may be identical. Every function throws ForbiddenError for a
 * reseller that isn't the caller's and NotFoundError for an unknown setting.
 */

const MOST_OF_RESELLER = 1_000;

/** Throws the same error whether the reseller exists or not. @throws ForbiddenError */
export async function requireReseller(on: Platform, principal: Principal, resellerId: number): Promise<void> {
  if (principal.resellerId === resellerId) return;
  if (principal.platformAdministrator && (await resellerExists(on.database.sql, resellerId))) return;
  throw new ForbiddenError(`You may not manage reseller ${resellerId}`);
}

/** PATCH: omitted fields stay. @throws InvalidError */
export async function updateNotificationSetting(
  on: Platform,
  principal: Principal,
  path: SettingPath,
  content: Partial<store.SettingContent> & { email: string },
): Promise<NotificationSetting> {
  await requireReseller(on, principal, path.resellerId);
  requireEmail(content.email);
  return on.database.accept(async (tx) => found(await store.updateSetting(tx.sql, path, content), path));
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
  const { count, rows } = await store.listSettings(on.database.sql, resellerId, {
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
  input: Input,
): Promise<NotificationSetting> {
  await requireReseller(on, principal, resellerId);
  requireEmail(input.email);
  const row = await on.database.accept(async (tx) => {
    if ((await store.countForNew(tx, resellerId)) >= MOST_OF_RESELLER) {
      throw new ConflictError(
        `Reseller ${resellerId} has ${MOST_OF_RESELLER} notification settings, which is the limit; delete one first`,
      );
    }
    const made = await store.insertSetting(tx.sql, resellerId, { enabled: true, ...input }, tx.now);
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
  return found(await store.findSetting(on.database.sql, path), path);
}

/** PUT: omitted fields get their defaults. @throws InvalidError */
export const replaceNotificationSetting = (
  on: Platform,
  principal: Principal,
  path: SettingPath,
  input: Input,
): Promise<NotificationSetting> =>
  updateNotificationSetting(on, principal, path, { enabled: true, ...input });

export async function deleteNotificationSetting(
  on: Platform,
  principal: Principal,
  path: SettingPath,
): Promise<void> {
  await requireReseller(on, principal, path.resellerId);
  await on.database.accept(async (tx) => found(await store.deleteSetting(tx.sql, path), path));
}

function found(row: store.SettingRow | undefined, { notificationSettingsId: id }: SettingPath) {
  if (!row) throw new NotFoundError('Notification setting', id);
  return presented(row);
}

function presented(row: store.SettingRow): NotificationSetting {
  const { id, reseller_id: reseller, notification_type, email, enabled } = row;
  return { id, reseller, notification_type, email, enabled };
}
