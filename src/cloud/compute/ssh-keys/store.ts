import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { onlyChecked, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { SshKeyListQuery } from './schema.ts';

export type SshKeyRow = Omit<Selectable<Tables['ssh_keys']>, 'revision'>;

/** The user for whom a key is looked up. */
export interface Viewer {
  projectId: number;
  userId: number;
}

/** Selects the keys of the project that the user may use: the shared ones and their own. */
function visible(db: Sql, viewer: Viewer, where = isOf(viewer)) {
  return db.selectFrom('ssh_keys').where(where).where(usableBy(viewer));
}

const isOf = ({ projectId }: Viewer) => sql<boolean>`project_id = ${projectId}`;

/** The same, for keys that are found by their IDs. */
const visibleByIds = (db: Sql, viewer: Viewer) => visible(db, viewer, onlyChecked(isOf(viewer)));

const usableBy =
  ({ userId }: Viewer) =>
  (eb: ExpressionBuilder<Tables, 'ssh_keys'>) =>
    eb.or([eb('shared_in_project', '=', true), eb('user_id', '=', userId)]);

export async function findKey(
  db: Sql,
  viewer: Viewer,
  by: { id: string } | { name: string },
): Promise<SshKeyRow | undefined> {
  const keys =
    'id' in by ? visibleByIds(db, viewer).where('id', '=', by.id) : visible(db, viewer).where('name', '=', by.name);
  return keys.selectAll().executeTakeFirst();
}

export async function existingKeys(db: Sql, viewer: Viewer, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await visibleByIds(db, viewer).select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

export async function listKeys(
  db: Sql,
  viewer: Viewer,
  query: SshKeyListQuery,
  addedBy?: number,
): Promise<Page<SshKeyRow>> {
  const [column, direction] = orderOf(query.order_by ?? 'created_at.desc');
  let matching = visible(db, viewer);
  if (query.name !== undefined) matching = matching.where(sql<boolean>`strpos(name, ${query.name}) > 0`);
  if (addedBy !== undefined) matching = matching.where('user_id', '=', addedBy);
  const ordered = matching.selectAll().orderBy(column, direction).orderBy('id', direction);
  return pageWithCount(ordered, query, 10);
}

export async function projectOf(db: Sql, id: string): Promise<number | undefined> {
  const key = await db.selectFrom('ssh_keys').select('project_id').where('id', '=', id).executeTakeFirst();
  return key?.project_id;
}

export async function insertKey(db: Sql, key: SshKeyRow): Promise<void> {
  await db.insertInto('ssh_keys').values(key).execute();
}

/** Returns undefined if there is no such key that the user may use. */
export async function setShared(db: Sql, viewer: Viewer, id: string, shared: boolean): Promise<SshKeyRow | undefined> {
  return db
    .updateTable('ssh_keys')
    .set({ shared_in_project: shared })
    .where('id', '=', id)
    .where(onlyChecked(isOf(viewer)))
    .where(usableBy(viewer))
    .returningAll()
    .executeTakeFirst();
}

/** Locks the key until the transaction ends, if the user may use it. Nothing can begin to use it meanwhile. */
export async function lockKey(tx: Transaction, viewer: Viewer, id: string): Promise<SshKeyRow | undefined> {
  return visibleByIds(tx.sql, viewer).selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Returns up to `limit` clusters that use the key for nodes or Slurm, or will after their running update. */
export async function clustersWithKey(
  tx: Transaction,
  { id, project_id, name }: { id: string; project_id: number; name: string },
  limit: number,
): Promise<{ name: string; onlySlurm: boolean }[]> {
  // Looks for the UUID in the list's text: nothing else in the list can contain it. Letter case doesn't matter.
  const lists = (column: string) =>
    sql<boolean>`strpos(lower(${sql.ref(column)} #>> '{add_ons,slurm,ssh_key_ids}'), ${id}) > 0`;
  return tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['name', sql<boolean>`keypair is distinct from ${name}`.as('onlySlurm')])
    .where('project_id', '=', project_id)
    .where((eb) => eb.or([eb('keypair', '=', name), lists('configuration'), lists('next_configuration')]))
    .orderBy('name')
    .limit(limit)
    .execute();
}
