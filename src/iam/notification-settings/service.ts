import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { requireEmail } from '../../lib/email.ts';
import { ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page-address.ts';
import type { Principal } from '../identity/principal.ts';
import type {
  NotificationSetting,
  NotificationSettingInput,
  NotificationSettingListQuery,
  NotificationSettingPage,
} from './schema.ts';
import * as store from './store.ts';

/**
 * Whom a reseller has told about what. A reseller may have any number of settings, also two that are alike.
 * Every method throws ForbiddenError for a reseller that isn't the caller's and NotFoundError for an unknown setting.
 */
export interface NotificationSettings {
  /** The same error whether the reseller exists or not. @throws ForbiddenError */
  requireReseller(principal: Principal, resellerId: number): Promise<void>;
  list(
    principal: Principal,
    resellerId: number,
    query: NotificationSettingListQuery,
  ): Promise<NotificationSettingPage>;
  /** @throws InvalidError */
  create(
    principal: Principal,
    resellerId: number,
    input: NotificationSettingInput,
  ): Promise<NotificationSetting>;
  get(principal: Principal, resellerId: number, id: number): Promise<NotificationSetting>;
  /** PUT: what is left out gets its default. @throws InvalidError */
  replace(
    principal: Principal,
    resellerId: number,
    id: number,
    input: NotificationSettingInput,
  ): Promise<NotificationSetting>;
  /** PATCH: what is left out stays. @throws InvalidError */
  update(
    principal: Principal,
    resellerId: number,
    id: number,
    input: NotificationSettingInput,
  ): Promise<NotificationSetting>;
  delete(principal: Principal, resellerId: number, id: number): Promise<void>;
}

export function createNotificationSettings(deps: { database: Database; clock: Clock }): NotificationSettings {
  const { database, clock } = deps;

  async function requireReseller(principal: Principal, resellerId: number): Promise<void> {
    if (principal.resellerId === resellerId) return;
    if (principal.platformAdministrator && (await store.resellerExists(database.sql, resellerId))) return;
    throw new ForbiddenError(`Reseller ${resellerId} is not yours to manage`);
  }

  async function change(
    principal: Principal,
    resellerId: number,
    id: number,
    content: Partial<store.SettingContent> & { email: string },
  ): Promise<NotificationSetting> {
    await requireReseller(principal, resellerId);
    requireEmail(content.email);
    return database.accept(principal, async (tx) =>
      found(await store.updateSetting(tx.sql, resellerId, id, content), id),
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
      const row = await database.accept(principal, (tx) =>
        store.insertSetting(tx.sql, resellerId, { enabled: true, ...input }, clock.now()),
      );
      return presented(row);
    },

    async get(principal, resellerId, id) {
      await requireReseller(principal, resellerId);
      return found(await store.findSetting(database.sql, resellerId, id), id);
    },

    replace: (principal, resellerId, id, input) =>
      change(principal, resellerId, id, { enabled: true, ...input }),

    update: change,

    async delete(principal, resellerId, id) {
      await requireReseller(principal, resellerId);
      await database.accept(principal, async (tx) => {
        if (!(await store.deleteSetting(tx.sql, resellerId, id))) throw unknownSetting(id);
      });
    },
  };
}

function found(row: store.SettingRow | undefined, id: number): NotificationSetting {
  if (!row) throw unknownSetting(id);
  return presented(row);
}

function unknownSetting(id: number): NotFoundError {
  return new NotFoundError('Notification setting', id);
}

function presented(row: store.SettingRow): NotificationSetting {
  const { id, reseller_id: reseller, notification_type, email, enabled } = row;
  return { id, reseller, notification_type, email, enabled };
}
