import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../../db/tables.ts';

export type TaskRow = Selectable<Tables['tasks']>;

export async function findTask(sql: Kysely<Tables>, id: string): Promise<TaskRow | undefined> {
  return sql.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
}

export interface NewTask {
  id: string;
  type: string;
  clientId: number;
  userId: number;
  userClientId: number;
  projectId: number;
  regionId: number;
  requestId: string;
  data: object;
  createdOn: Date;
  deadlineAt: Date;
}

export async function insertTask(sql: Kysely<Tables>, task: NewTask): Promise<void> {
  await sql
    .insertInto('tasks')
    .values({
      id: task.id,
      task_type: task.type,
      state: 'NEW',
      client_id: task.clientId,
      user_id: task.userId,
      user_client_id: task.userClientId,
      project_id: task.projectId,
      region_id: task.regionId,
      request_id: task.requestId,
      data: JSON.stringify(task.data),
      created_resources: null,
      error: null,
      created_on: task.createdOn,
      updated_on: null,
      finished_on: null,
      deadline_at: task.deadlineAt,
      acknowledged_at: null,
      acknowledged_by: null,
    })
    .execute();
}
