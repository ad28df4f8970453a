import { type RawBuilder, sql } from 'kysely';

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
