import { sql as raw, type Selectable } from 'kysely';
import type { CreatedResources } from '../../../convergence/task-kind.ts';
import { stopWaiting } from '../../../convergence/waiting-deletions.ts';
import type { Sql, Transaction } from '../../../db/database.ts';
import type { QuarterlyTable } from '../../../db/quarters.ts';
import { compiledQuery } from '../../../db/statements.ts';
import type { Tables } from '../../../db/tables.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { firstTaskId } from '../../../lib/ids.ts';
import { ACTIVE } from './states.ts';

export type TaskRow = Selectable<Tables['tasks']>;

export async function findTask(sql: Sql, id: string): Promise<TaskRow | undefined> {
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
  projectId: number | null;
  regionId: number | null;
  requestId: string;
  data: object;
  input: object | null;
  createdOn: Date;
  deadlineAt: Date;
  /** Set if the work is done already: what it created. */
  done?: { created: CreatedResources | null };
}

export function insertTask(tx: Pick<Transaction, 'send'>, { done, data, input, ...task }: NewTask): void {
  tx.send(insertTaskRow, {
    ...task,
    data: JSON.stringify(data),
    input: input && JSON.stringify(input),
    state: done ? 'FINISHED' : 'NEW',
    created: done?.created ? JSON.stringify(done.created) : null,
    finishedOn: done ? task.createdOn : null,
  });
}

type TaskValues = Omit<NewTask, 'data' | 'done' | 'input'> & {
  data: string;
  input: string | null;
  state: 'FINISHED' | 'NEW';
  created: string | null;
  finishedOn: Date | null;
};
const insertTaskRow = compiledQuery((db, args: TaskValues) =>
  db
    .insertInto('tasks')
    .values({
      id: args.id,
      task_type: args.type,
      state: args.state,
      client_id: args.clientId,
      user_id: args.userId,
      user_client_id: args.userClientId,
      project_id: args.projectId,
      region_id: args.regionId,
      request_id: args.requestId,
      data: args.data,
      input: args.input,
      created_resources: args.created,
      error: null,
      created_on: args.createdOn,
      updated_on: args.finishedOn,
      finished_on: args.finishedOn,
      deadline_at: args.deadlineAt,
      acknowledged_at: null,
      acknowledged_by: null,
    })
    .compile(),
);

/**
 * Begins with what a task has waited to do: from now on its end is that of its kind.
 * @throws ConflictError if another process has begun with it, or it has ended
 */
export async function beginWaiting(sql: Sql, task: Pick<NewTask, 'id' | 'data' | 'input' | 'deadlineAt'>) {
  const begun = await sql
    .updateTable('tasks')
    .set({
      data: JSON.stringify(task.data),
      input: task.input && JSON.stringify(task.input),
      deadline_at: task.deadlineAt,
    })
    .where('id', '=', task.id)
    .where('state', '=', 'NEW')
    .executeTakeFirst();
  const behind = await stopWaiting(sql, task.id);
  if (begun.numUpdatedRows === 0n || behind === undefined) {
    throw new ConflictError(`Task ${task.id} does not wait any more`);
  }
}

/** Finds a task that ended before its removal was complete. The lock on the resource's row delays the removal. */
export async function findLateRemoval(
  sql: Sql,
  id: string,
): Promise<{ id: string; task_type: string; data: object; deadline_ms: number } | undefined> {
  const { rows } = await raw<{ id: string; task_type: string; data: object; deadline_ms: number }>`
    select id, task_type, data, extract(epoch from deadline_at - created_on)::float8 * 1000 as deadline_ms
    from tasks where id = ${id} and state = 'ERROR' and exists (select from task_wants where task_id = tasks.id)`.execute(
    sql,
  );
  return rows[0];
}

/** Lets a task wait for what another one waits for. */
export async function waitLike(sql: Sql, otherId: string, id: string): Promise<void> {
  await raw`
    insert into task_wants (task_id, kind, want_id, generation, undo)
    select ${id}::uuid, kind, want_id, generation, null from task_wants where task_id = ${otherId}`.execute(sql);
}

const OPEN = `state in (${ACTIVE.map((state) => `'${state}'`).join(', ')})`;

/** By id, which begins with the time. Older tasks have random ids and are in the default partition. */
export const TASKS: QuarterlyTable = {
  name: 'tasks',
  column: 'id',
  from: (moment) => `'${firstTaskId(moment)}'`,
  time: 'created_on',
  open: OPEN,
  // A removal may outlive its task, and ends it then.
  isOver: `not (${OPEN}) and not exists (select from task_wants where task_id = old.id)`,
  goesOn: (quarter) =>
    `exists (select from ${quarter} as task where ${OPEN})
      or exists (select from task_wants join ${quarter} as task on task.id = task_id)`,
};
