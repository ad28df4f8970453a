import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { requireEmail } from '../../lib/email.ts';
import { ConflictError, ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page-address.ts';
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

const MOST_OF_RESELLER = 1_000;

/**
 * Whom a reseller wants to be notified of what. Settings may be identical. Every method throws ForbiddenError for a reseller that isn't the caller's and NotFoundError for an
 * unknown setting.
 */
export interface NotificationSettings {
  /** Throws the same error whether the reseller exists or not. @throws ForbiddenError */
  requireReseller(principal: Principal, resellerId: number): Promise<void>;
  list(
    principal: Principal,
    resellerId: number,
    query: NotificationSettingListQuery,
  ): Promise<NotificationSettingPage>;
  /** @throws InvalidError; ConflictError if the reseller has too many */
  create(principal: Principal, resellerId: number, input: Input): Promise<NotificationSetting>;
  get(principal: Principal, path: SettingPath): Promise<NotificationSetting>;
  /** PUT: omitted fields get their defaults. @throws InvalidError */
  replace(principal: Principal, path: SettingPath, input: Input): Promise<NotificationSetting>;
  /** PATCH: omitted fields stay. @throws InvalidError */
  update(principal: Principal, path: SettingPath, input: Input): Promise<NotificationSetting>;
  delete(principal: Principal, path: SettingPath): Promise<void>;
}

export function createNotificationSettings(deps: { database: Database; clock: Clock }): NotificationSettings {
  const { database, clock } = deps;

  async function requireReseller(principal: Principal, resellerId: number): Promise<void> {
    if (principal.resellerId === resellerId) return;
    if (principal.platformAdministrator && (await resellerExists(database.sql, resellerId))) return;
    throw new ForbiddenError(`You may not manage reseller ${resellerId}`);
  }

  async function change(
    principal: Principal,
    path: SettingPath,
    content: Partial<store.SettingContent> & { email: string },
  ): Promise<NotificationSetting> {
    await requireReseller(principal, path.resellerId);
    requireEmail(content.email);
    return database.accept(principal, async (tx) =>
      found(await store.updateSetting(tx.sql, path, content), path),
    );
  }

  return {
    requireReseller,

    async list(principal, resellerId, query) {
      await requireReseller(principal, resellerId);
      const { limit = 100, offset = 0, ordering = 'id' } = query;
      const field = ordering.replace('-', '') as Exclude<typeof ordering, `-${string}`>;
      const { count, rows } = await store.listSettings(database.sql, resellerId, {
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
    },

    async create(principal, resellerId, input) {
      await requireReseller(principal, resellerId);
      requireEmail(input.email);
      const row = await database.accept(principal, async (tx) => {
        if ((await store.countForNew(tx, resellerId)) >= MOST_OF_RESELLER) {
          throw new ConflictError(
            `Reseller ${resellerId} has ${MOST_OF_RESELLER} notification settings, which is the limit; delete one first`,
          );
        }
        const made = await store.insertSetting(tx.sql, resellerId, { enabled: true, ...input }, clock.now());
        principal.writes?.made(made.id);
        return made;
      });
      return presented(row);
    },

    async get(principal, path) {
      await requireReseller(principal, path.resellerId);
      return found(await store.findSetting(database.sql, path), path);
    },

    replace: (principal, path, input) => change(principal, path, { enabled: true, ...input }),

    update: change,

    async delete(principal, path) {
      await requireReseller(principal, path.resellerId);
      await database.accept(principal, async (tx) => found(await store.deleteSetting(tx.sql, path), path));
    },
  };
}

function found(row: store.SettingRow | undefined, { notificationSettingsId: id }: SettingPath) {
  if (!row) throw new NotFoundError('Notification setting', id);
  return presented(row);
}

function presented(row: store.SettingRow): NotificationSetting {
  const { id, reseller_id: reseller, notification_type, email, enabled } = row;
  return { id, reseller, notification_type, email, enabled };
}
