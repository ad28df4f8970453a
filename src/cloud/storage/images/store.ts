import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction, tagConditions } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { ImageListQuery } from './schema.ts';

export type ImageRow = Selectable<Tables['images']>;

function images(db: Sql, where: RawBuilder<boolean>) {
  return db.selectFrom('images').selectAll().where(where);
}

export async function findImage(db: Sql, place: Place, id: string): Promise<ImageRow | undefined> {
  return images(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
}

/** Locks the image against changes and against use as a source until the transaction ends. */
export async function lockImage(tx: Transaction, place: Place, id: string): Promise<ImageRow | undefined> {
  return images(tx.sql, belongsTo(place)).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

/** Lists the newest image first. */
export async function listImages(
  db: Sql,
  place: Place,
  query: ImageListQuery,
  page: PageQuery,
): Promise<Page<ImageRow>> {
  let matching = images(db, isIn(place)).where((eb) => eb.and(tagConditions('images.tags', query)));
  if (query.name !== undefined) {
    matching = matching.where(sql<boolean>`position(lower(${query.name}) in lower(name)) > 0`);
  }
  if (query.os_distro !== undefined) {
    matching = matching.where(sql<boolean>`lower(os_distro) = lower(${query.os_distro})`);
  }
  if (query.os_version !== undefined) {
    matching = matching.where(sql<boolean>`lower(os_version) = lower(${query.os_version})`);
  }
  if (query.architecture !== undefined) matching = matching.where('architecture', '=', query.architecture);
  return pageWithCount(matching.orderBy('created_at', 'desc').orderBy('id', 'desc'), page);
}

export async function insertImage(tx: Transaction, image: Insertable<Tables['images']>): Promise<void> {
  await tx.sql.insertInto('images').values(image).execute();
}

export async function changeImage(tx: Transaction, id: string, change: Updateable<Tables['images']>): Promise<void> {
  await tx.sql.updateTable('images').set(change).where('id', '=', id).execute();
}

export async function deleteImage(tx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.sql.deleteFrom('images').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns up to `limit` volumes that need the image: that are being created from it, or share its data. */
export async function volumesFrom(tx: Transaction, image: ImageRow, limit: number): Promise<string[]> {
  const place = { projectId: image.project_id, regionId: image.region_id };
  let needing = tx.sql
    .selectFrom('volumes')
    .select('id')
    .where(sql<boolean>`image_metadata ->> 'image_id' = ${image.id}`);
  needing = image.cow_format ? needing.where(isIn(place)) : needing.where('status', '=', 'downloading');
  const rows = await needing.orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}
