import type { Kysely, Selectable } from 'kysely';
import { pageWithCount } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import type { ProjectListQuery } from './schema.ts';

export type ProjectRow = Selectable<Tables['projects']>;

export async function findProject(sql: Kysely<Tables>, id: number): Promise<ProjectRow | undefined> {
  return sql
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

export async function listProjects(
  sql: Kysely<Tables>,
  clientId: number,
  query: ProjectListQuery,
): Promise<{ count: number; rows: ProjectRow[] }> {
  const [column, direction] = (query.order_by ?? 'created_at.desc').split('.') as [
    'created_at' | 'name',
    'asc' | 'desc',
  ];
  let matching = sql.selectFrom('projects').where('client_id', '=', clientId);
  if (!query.include_deleted) matching = matching.where('deleted_at', 'is', null);
  if (query.name !== undefined) matching = matching.where('name', '=', query.name);
  const ordered = matching.selectAll().orderBy(column, direction).orderBy('id', direction);
  return pageWithCount(ordered, { limit: query.limit ?? 100, offset: query.offset ?? 0 });
}
