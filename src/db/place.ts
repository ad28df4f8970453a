import { type RawBuilder, sql } from 'kysely';
import { type TagQuery, tagFilter } from '../lib/tags.ts';

/** The project and region of a resource. */
export interface Place {
  projectId: number;
  regionId: number;
}

/**
 * Returns the condition for rows of that place. In a query over several tables, `table` names the one with
 * the columns.
 */
export function isIn({ projectId, regionId }: Place, table?: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`);
  return sql`${column('project_id')} = ${projectId} and ${column('region_id')} = ${regionId}`;
}

/** Returns the columns of a new resource: its place, and the task that makes it. */
export function newResource({ projectId, regionId }: Place, taskId: string, now: Date) {
  return {
    project_id: projectId,
    region_id: regionId,
    creator_task_id: taskId,
    task_id: taskId,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Returns conditions on a `tags` column (jsonb, with a gin index): every key present, every pair equal.
 * @throws InvalidError like `tagFilter`
 */
export function tagConditions(column: string, query: TagQuery): RawBuilder<boolean>[] {
  const { tagKeys, tags } = tagFilter(query);
  const conditions: RawBuilder<boolean>[] = [];
  if (tagKeys.length > 0) conditions.push(sql<boolean>`${sql.ref(column)} ?& ${tagKeys}::text[]`);
  if (Object.keys(tags).length > 0) {
    conditions.push(sql<boolean>`${sql.ref(column)} @> ${JSON.stringify(tags)}::jsonb`);
  }
  return conditions;
}
