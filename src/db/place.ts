import { type RawBuilder, sql } from 'kysely';

/** Where a resource lies, as its row says it. */
export interface Place {
  projectId: number;
  regionId: number;
}

/** The condition for rows of that place. Of a query over several tables, `table` is the one that they are in. */
export function isIn({ projectId, regionId }: Place, table?: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`);
  return sql`${column('project_id')} = ${projectId} and ${column('region_id')} = ${regionId}`;
}

/** The columns of a resource that say where it is, and that a task has begun to make it. */
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
