import { type Kysely, type Selectable, sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
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

/** Counts the settings of a reseller, and lets nobody else make one for it before the transaction ends. */
export async function countForNew(tx: Transaction, resellerId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tradewind settings ${resellerId}`}, 0))`.execute(
    tx.sql,
  );
  const { count } = await tx.sql
    .selectFrom('notification_settings')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('reseller_id', '=', resellerId)
    .executeTakeFirstOrThrow();
  return count;
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
