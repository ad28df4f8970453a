import type { Selectable } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { orderOf, type Page } from '../../../lib/page.ts';
import type { ProjectListQuery } from './schema.ts';

export type ProjectRow = Selectable<Tables['projects']>;
/** A project, with the time of its deletion if it was deleted. */
export type ListedProjectRow = Omit<ProjectRow, 'revision'> & { deleted_at: Date | null };

export async function findProject(sql: Sql, id: number): Promise<ProjectRow | undefined> {
  return sql.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the project, so that nobody can change it or create anything in it until the transaction ends. */
export async function lockProject(tx: Transaction, id: number): Promise<ProjectRow | undefined> {
  return tx.sql.selectFrom('projects').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function insertProject(
  tx: Transaction,
  project: { clientId: number; name: string; description: string | null },
): Promise<ProjectRow> {
  return tx.sql
    .insertInto('projects')
    .values({
      client_id: project.clientId,
      name: project.name,
      description: project.description,
      is_default: false,
      created_at: tx.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Changes the given fields. Returns undefined if the project no longer exists. */
export async function changeProject(
  tx: Transaction,
  id: number,
  change: { name?: string; description?: string | null },
): Promise<ProjectRow | undefined> {
  return tx.sql.updateTable('projects').set(change).where('id', '=', id).returningAll().executeTakeFirst();
}

/** Notes the task that deletes these projects. Returns which they are, so that every process can be told. */
export async function markDeleting(tx: Transaction, which: { id: number } | { clientId: number }, taskId: string) {
  const rows = await tx.sql
    .updateTable('projects')
    .set({ deletion_task_id: taskId })
    .where((project) => ('id' in which ? project('id', '=', which.id) : project('client_id', '=', which.clientId)))
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Forgets that the projects are being deleted. */
export async function markStaying(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx.sql
    .updateTable('projects')
    .set({ deletion_task_id: null })
    .where('id', 'in', ids)
    .where('deletion_task_id', 'is not', null)
    .execute();
}

/** Moves an empty project to the table of deleted projects. */
export async function moveToDeleted(tx: Transaction, project: ProjectRow): Promise<void> {
  const { id, client_id, name, description, created_at } = project;
  await tx.sql.deleteFrom('projects').where('id', '=', id).execute();
  await tx.sql
    .insertInto('deleted_projects')
    .values({ id, client_id, name, description, created_at, deleted_at: tx.now })
    .execute();
}

export async function listProjects(
  sql: Sql,
  clientId: number,
  query: ProjectListQuery,
  /** Only these of them, if given. */
  only?: readonly number[],
): Promise<Page<ListedProjectRow>> {
  const [column, direction] = orderOf(query.order_by ?? 'created_at.desc');
  const columns = ['id', 'client_id', 'name', 'description', 'created_at'] as const;
  let matching = sql
    .with('listed', (db) => {
      const living = db
        .selectFrom('projects')
        .select((eb) => [...columns, eb.cast<Date | null>(eb.lit(null), 'timestamptz').as('deleted_at')])
        .select(['is_default', 'deletion_task_id'])
        .where('client_id', '=', clientId);
      if (!query.include_deleted) return living;
      return living.unionAll(
        db
          .selectFrom('deleted_projects')
          .select([...columns, 'deleted_at'])
          .select((eb) => [
            eb.lit(false).as('is_default'),
            eb.cast<string | null>(eb.lit(null), 'uuid').as('deletion_task_id'),
          ])
          .where('client_id', '=', clientId),
      );
    })
    .selectFrom('listed');
  if (query.name !== undefined) matching = matching.where('name', '=', query.name);
  if (only) matching = matching.where((project) => project('id', '=', project.fn.any(project.val([...only]))));
  const ordered = matching.selectAll().orderBy(column, direction).orderBy('id', direction);
  return pageWithCount(ordered, query, 100);
}
