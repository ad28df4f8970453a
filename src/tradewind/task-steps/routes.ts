import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { TaskParams } from '../../cloud/ground/tasks/schema.ts';
import { getTask } from '../../cloud/ground/tasks/service.ts';
import type { Sql } from '../../db/database.ts';
import type { DeletionStep } from '../../db/json-columns.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { Choice, Named, TextOrNull } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';

const Doing = (description: string, example?: string) =>
  TextOrNull({ description, ...(example !== undefined && { examples: [example] }) });

const StepNote = Named('TaskStepNote', {
  at: Type.String({ format: 'date-time' }),
  state: Type.String({ description: 'The state from then on' }),
  doing: Doing('What was done from then on, or what it waited for'),
  failures: Type.Integer({ description: 'How many tries had failed in a row by then' }),
});

const TaskStep = Named('TaskStep', {
  kind: Type.String({
    description: 'Kind of infrastructure, or of what is deleted; `task` while a deletion waits for another task',
    examples: ['machine'],
  }),
  id: Type.String({
    description: 'Its ID. Of what is deleted with a project or account: that of the project',
  }),
  state: Choice(['waiting', 'doing', 'done', 'removed', 'given up'], {
    description:
      'waiting: nothing is done with it right now. done, removed: it is as wanted. given up: the task ended before that',
  }),
  doing: Doing('What is being done, or why it waits', 'waiting for network 7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90'),
  failures: Type.Integer({ description: 'How many tries have failed in a row' }),
  history: Type.Array(StepNote, { description: 'What was done when, the oldest first' }),
});
export type TaskStep = Static<typeof TaskStep>;

export const TaskSteps = Named('TaskSteps', {
  task_id: Type.String({ format: 'uuid' }),
  state: Choice(['NEW', 'RUNNING', 'FINISHED', 'ERROR']),
  done: Type.Integer({ description: 'How many steps are done' }),
  of: Type.Integer({ description: 'How many steps there are' }),
  steps: Type.Array(TaskStep),
});
export type TaskSteps = Static<typeof TaskSteps>;

/** A want that a task waits for. */
export interface OpenStep {
  kind: string;
  id: string;
  state: 'waiting' | 'doing' | 'done' | 'removed';
  doing: string | null;
  failures: number;
}

/** A task that has ended waits for nothing, unless it is a removal that goes on. */
export async function openSteps(db: Sql, taskId: string): Promise<OpenStep[]> {
  const { rows } = await sql<OpenStep>`
    select task_wants.kind, want_id as id, coalesce(failures, 0) as failures,
      case when wants.id is null then 'removed'
        when settled_generation >= task_wants.generation then 'done'
        when worker_id is not null then 'doing'
        else 'waiting' end as state,
      case when wants.id is null or settled_generation >= task_wants.generation then null
        else coalesce(doing, case when worker_id is null then 'waiting for a worker' end) end as doing
    from task_wants left join wants on wants.kind = task_wants.kind and wants.id = want_id
    where task_id = ${taskId} order by task_wants.kind, want_id`.execute(db);
  return rows;
}

/** What an event says of a step. */
export interface Noted extends OpenStep {
  at: Date;
}

/** Returns what the events of a task say of its steps, and which steps its end names. */
export async function notedSteps(
  db: Sql,
  taskId: string,
  limit: number,
): Promise<{ notes: Noted[]; named: { kind: string; id: string }[] }> {
  const subject = `task/${taskId}`;
  const { rows } = await sql<Noted>`
    select step ->> 'kind' as kind, step ->> 'id' as id, "time" as at, step ->> 'state' as state,
      step ->> 'doing' as doing, coalesce((step ->> 'failures')::integer, 0) as failures
    from (
      select position, "time", data -> 'task' -> 'step' as step from events
      where subject = ${subject} and type = 'tradewind.task.progressed' order by position limit ${limit}
    ) as told order by position`.execute(db);
  const ends = await sql<{ kind: string; id: string }>`
    select named.kind, named.id from events,
      jsonb_to_recordset(data -> 'task' -> 'steps') as named (kind text, id text)
    where subject = ${subject} and type in ('tradewind.task.finished', 'tradewind.task.failed')
      and data -> 'task' ? 'steps' order by named.kind, named.id`.execute(db);
  return { notes: rows, named: ends.rows };
}

/** Returns the steps of a deletion with contents, which wants nothing itself. */
export async function deletionSteps(db: Sql, taskId: string): Promise<DeletionStep[]> {
  const row = await db.selectFrom('deletions').select('steps').where('task_id', '=', taskId).executeTakeFirst();
  return row?.steps ?? [];
}

/** A task that goes on for days notes more than anybody reads. */
const MOST_NOTES = 2_000;

/** @throws NotFoundError for an unknown task and for another account's task */
export async function stepsOfTask(on: Platform, principal: Principal, taskId: string): Promise<TaskSteps> {
  const { id, state, data } = await getTask(on, principal, taskId);
  const { notes, named } = await notedSteps(on.database.sql, id, MOST_NOTES);
  const open = await openSteps(on.database.sql, id);
  const deleted = (await deletionSteps(on.database.sql, id)).map(
    (one): TaskStep => ({ ...one, failures: 0, history: [] }),
  );
  const { waits_for: holder } = data as { waits_for?: string };
  const waiting = state === 'NEW' && holder !== undefined ? [waitingFor(holder)] : [];
  const steps = [...waiting, ...deleted, ...stepsOf({ open, notes, named, hasFailed: state === 'ERROR' })];
  const done = steps.filter((one) => one.state === 'done' || one.state === 'removed').length;
  return { task_id: id, state, done, of: steps.length, steps };
}

/** A deletion that begins when another task has ended. */
const waitingFor = (holder: string): TaskStep => ({
  kind: 'task',
  id: holder,
  state: 'waiting',
  doing: `waiting for the end of task ${holder}`,
  failures: 0,
  history: [],
});

interface Known {
  open: readonly OpenStep[];
  notes: readonly Noted[];
  named: readonly { kind: string; id: string }[];
  hasFailed: boolean;
}

function stepsOf({ open, notes, named, hasFailed }: Known): TaskStep[] {
  const steps = new Map<string, TaskStep>();
  const step = ({ kind, id }: { kind: string; id: string }): TaskStep => {
    const key = `${kind} ${id}`;
    const known = steps.get(key) ?? { kind, id, state: 'done', doing: null, failures: 0, history: [] };
    steps.set(key, known);
    return known;
  };
  for (const one of open) Object.assign(step(one), one);
  const stillOpen = new Set(steps.keys());
  for (const one of named) step(one);
  for (const { at, state, doing, failures, ...name } of notes)
    step(name).history.push({ at: at.toISOString(), state, doing, failures });
  for (const [key, one] of steps) {
    if (stillOpen.has(key)) continue;
    // The task has ended: as wanted, or as its last note says.
    const last = one.history.at(-1);
    if (last?.state === 'removed') one.state = 'removed';
    else if (hasFailed && last?.state !== 'done') {
      Object.assign(one, { state: 'given up', doing: last?.doing ?? null, failures: last?.failures ?? 0 });
    }
  }
  return [...steps.values()];
}

export function taskStepRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Events'], params: TaskParams });

  api.get('/tradewind/v1/tasks/:task_id/steps', 'listTaskSteps', 'List the steps of a task', {
    uncounted: true,
    description:
      'What the task wants of the infrastructure: what is done with each part of it, how often that failed, and why it waits. What was done when is known for 24 hours.',
    answer: TaskSteps,
    handler: ({ principal, params }) => stepsOfTask(on, principal, params.task_id),
  });
}
