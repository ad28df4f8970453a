import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction, tagConditions } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { FileShareListQuery } from './schema.ts';

export type FileShareRow = Selectable<Tables['file_shares']>;
export type NewFileShareRow = Insertable<Tables['file_shares']>;
export type SharePatch = Updateable<Tables['file_shares']>;

function shares(db: Sql, where: RawBuilder<boolean>) {
  return db.selectFrom('file_shares').where(where);
}

export async function findShare(db: Sql, place: Place, id: string): Promise<FileShareRow | undefined> {
  return shares(db, belongsTo(place)).selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the share against concurrent changes until the transaction ends. */
export async function lockShare(tx: Transaction, place: Place, id: string): Promise<FileShareRow | undefined> {
  return shares(tx.sql, belongsTo(place)).selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Returns the share if no task holds it, and locks it so that none can until the transaction ends. */
export async function keepFree(tx: Transaction, place: Place, id: string): Promise<FileShareRow | undefined> {
  return shares(tx.sql, belongsTo(place))
    .selectAll()
    .where('id', '=', id)
    .where('task_id', 'is', null)
    .forShare()
    .executeTakeFirst();
}

export async function listShares(db: Sql, place: Place, query: FileShareListQuery): Promise<Page<FileShareRow>> {
  let matching = shares(db, isIn(place)).where((eb) => eb.and(tagConditions('file_shares.tags', query)));
  if (query.name !== undefined) {
    matching = matching.where(sql<boolean>`strpos(name, ${query.name}) > 0`);
  }
  if (query.type_name !== undefined) matching = matching.where('type_name', '=', query.type_name);
  return pageWithCount(matching.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

export async function insertShare(tx: Transaction, share: NewFileShareRow): Promise<void> {
  await tx.sql.insertInto('file_shares').values(share).execute();
}

export async function changeShare(tx: Transaction, id: string, change: SharePatch): Promise<void> {
  await tx.sql.updateTable('file_shares').set(change).where('id', '=', id).execute();
}

/** Ends the task's hold on the share, makes it available and writes what the task changed. */
export async function makeAvailable(tx: Transaction, id: string, change: SharePatch = {}): Promise<void> {
  await changeShare(tx, id, { ...change, status: 'available', task_id: null });
}

export async function deleteShare(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('file_shares').where('id', '=', id).execute();
}

/** Returns the name of a cluster whose Slurm add-on uses the share, or will after its running update. */
export async function slurmClusterOn(
  tx: Transaction,
  shareId: string,
): Promise<{ id: string; name: string } | undefined> {
  const path = '{add_ons,slurm,file_share_id}';
  return tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['id', 'name'])
    .where((eb) =>
      eb.or([
        eb(sql`configuration #>> ${sql.lit(path)}`, '=', shareId),
        eb(sql`next_configuration #>> ${sql.lit(path)}`, '=', shareId),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
}

export type AccessRuleRow = Selectable<Tables['file_share_access_rules']>;

export async function insertRules(tx: Transaction, rules: Insertable<Tables['file_share_access_rules']>[]) {
  if (rules.length > 0) await tx.sql.insertInto('file_share_access_rules').values(rules).execute();
}

export async function countRules(tx: Transaction, shareId: string): Promise<number> {
  const { count } = await tx.sql
    .selectFrom('file_share_access_rules')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('file_share_id', '=', shareId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Lists the rules in the order of their creation. */
export async function listRules(db: Sql, shareId: string, page: PageQuery): Promise<Page<AccessRuleRow>> {
  const rules = db.selectFrom('file_share_access_rules').selectAll().where('file_share_id', '=', shareId);
  return pageWithCount(rules.orderBy('created_at').orderBy('id'), page);
}

/** Returns undefined if there was no such rule. */
export async function deleteRule(tx: Transaction, shareId: string, id: string): Promise<{ id: string } | undefined> {
  return tx.sql
    .deleteFrom('file_share_access_rules')
    .where('file_share_id', '=', shareId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
}
