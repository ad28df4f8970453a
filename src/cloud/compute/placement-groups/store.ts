import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';

export type PlainGroup = Selectable<Tables['server_groups']>;
export type GroupRow = PlainGroup & { instances: { id: string; name: string }[] };

/** Selects groups with their instances: those that joined it, and the nodes of its pool. */
function groups(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('server_groups')
    .selectAll()
    .select((group) =>
      jsonArrayFrom(
        group
          .selectFrom('instances')
          .select(['instances.id', 'instances.name'])
          .where(
            sql<boolean>`instances.id in (
              select instance_id from server_group_members where server_group_id = server_groups.id
              union all select node.id from instances as node where node.pool_id = server_groups.pool_id)`,
          )
          .orderBy('name')
          .orderBy('id'),
      ).as('instances'),
    )
    .where(where);
}

export async function findGroup(db: Sql, place: Place, id: string): Promise<GroupRow | undefined> {
  return groups(db, belongsTo(place)).where('id', '=', id).executeTakeFirst();
}

export async function listGroups(db: Sql, place: Place, query: PageQuery): Promise<Page<GroupRow>> {
  return pageWithCount(groups(db, isIn(place)).orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

export async function insertGroups(db: Sql, rows: Insertable<Tables['server_groups']>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('server_groups').values(rows).execute();
}

/** Nobody can join the group until the transaction ends. */
export async function lockGroup(tx: Transaction, place: Place, id: string): Promise<PlainGroup | undefined> {
  return group(tx, place, id).forUpdate().executeTakeFirst();
}

/** The group can't be deleted until the transaction ends. */
export async function keepGroup(tx: Transaction, place: Place, id: string): Promise<PlainGroup | undefined> {
  return group(tx, place, id).forShare().executeTakeFirst();
}

function group(tx: Transaction, place: Place, id: string) {
  return tx.sql.selectFrom('server_groups').selectAll().where(belongsTo(place)).where('id', '=', id);
}

/** Locks the instances that have joined the group, in the order of their IDs. */
export async function lockMembers(tx: Transaction, place: Place, id: string) {
  return tx.sql
    .selectFrom('instances')
    .select(['id', 'task_id'])
    .where(belongsTo(place))
    .where('id', 'in', (all) =>
      all.selectFrom('server_group_members').select('instance_id').where('server_group_id', '=', id),
    )
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Returns the instances that have joined the group. */
export async function membersOf(tx: Transaction, id: string): Promise<{ id: string }[]> {
  return tx.sql
    .selectFrom('server_group_members')
    .select('instance_id as id')
    .where('server_group_id', '=', id)
    .execute();
}

export async function hold(tx: Transaction, id: string, taskId: string): Promise<void> {
  await tx.sql.updateTable('server_groups').set({ task_id: taskId }).where('id', '=', id).execute();
}

export async function deleteGroup(tx: Transaction, id: string): Promise<void> {
  await tx.sql.deleteFrom('server_groups').where('id', '=', id).execute();
}
