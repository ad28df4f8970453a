import type { Kysely, Selectable } from 'kysely';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { SettingPath } from './schema.ts';

export type SettingRow = Selectable<Tables['notification_settings']>;
export type SettingContent = Pick<SettingRow, 'notification_type' | 'email' | 'enabled'>;

export async function listSettings(
  db: Kysely<Tables>,
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

export async function insertSetting(
  db: Kysely<Tables>,
  resellerId: number,
  content: SettingContent,
  now: Date,
): Promise<SettingRow> {
  return db
    .insertInto('notification_settings')
    .values({ ...content, reseller_id: resellerId, created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const meant = ({ resellerId, notificationSettingsId: id }: SettingPath) => ({ reseller_id: resellerId, id });

export async function findSetting(db: Kysely<Tables>, path: SettingPath): Promise<SettingRow | undefined> {
  return db
    .selectFrom('notification_settings')
    .selectAll()
    .where((row) => row.and(meant(path)))
    .executeTakeFirst();
}

/** Returns undefined if there is no such setting. Fields that `content` omits stay. */
export async function updateSetting(db: Kysely<Tables>, path: SettingPath, content: Partial<SettingContent>) {
  return db
    .updateTable('notification_settings')
    .set(content)
    .where((row) => row.and(meant(path)))
    .returningAll()
    .executeTakeFirst();
}

/** Returns undefined if there is no such setting. */
export async function deleteSetting(db: Kysely<Tables>, path: SettingPath): Promise<SettingRow | undefined> {
  return db
    .deleteFrom('notification_settings')
    .where((row) => row.and(meant(path)))
    .returningAll()
    .executeTakeFirst();
}
