import type { Kysely, Selectable } from 'kysely';
import { compiledQuery } from '../../db/compiled.ts';
import type { Tables } from '../../db/tables.ts';

export type TaskRow = Selectable<Tables['tasks']>;

export async function findTask(sql: Kysely<Tables>, id: string): Promise<TaskRow | undefined> {
  return (await taskById(sql, { id }))[0];
}

const taskById = compiledQuery((db, args: { id: string }) =>
  db.selectFrom('tasks').selectAll().where('id', '=', args.id).compile(),
);

export interface NewTask {
  id: string;
  type: string;
  clientId: number;
  userId: number;
  userClientId: number;
  projectId: number;
  regionId: number | null;
  requestId: string;
  data: object;
  createdOn: Date;
  deadlineAt: Date;
}

export async function insertTask(sql: Kysely<Tables>, task: NewTask): Promise<void> {
  await insertTaskRow(sql, { ...task, data: JSON.stringify(task.data) });
}

const insertTaskRow = compiledQuery((db, args: Omit<NewTask, 'data'> & { data: string }) =>
  db
    .insertInto('tasks')
    .values({
      id: args.id,
      task_type: args.type,
      state: 'NEW',
      client_id: args.clientId,
      user_id: args.userId,
      user_client_id: args.userClientId,
      project_id: args.projectId,
      region_id: args.regionId,
      request_id: args.requestId,
      data: args.data,
      created_resources: null,
      error: null,
      created_on: args.createdOn,
      updated_on: null,
      finished_on: null,
      deadline_at: args.deadlineAt,
      acknowledged_at: null,
      acknowledged_by: null,
    })
    .compile(),
);
