import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { sql } from 'kysely';
import type pg from 'pg';
import { buryDead } from './heartbeat.ts';
import { failTask } from './task-end.ts';
import type { TaskJob, TaskRunner } from './task-workflow.ts';

const SWEEP_LOCK = 0x7477_7377; // "twsw"
const BATCH = 200;
const KEEP_FINISHED_MS = 24 * 3_600_000;

interface Unended {
  id: string;
  status: string | null;
  deadline_at: Date;
  overdue: boolean;
}

/** One process at a time does `work`; the others go on. */
export async function alone(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let held = false;
  try {
    held = (await client.query('select pg_try_advisory_lock($1) as held', [SWEEP_LOCK])).rows[0].held;
    if (held) await work();
  } finally {
    // Closing the session gives the lock back whatever happened in between.
    if (held) await client.query('select pg_advisory_unlock($1)', [SWEEP_LOCK]).catch(() => {});
    client.release();
  }
}

/**
 * Hands the work of dead workers to whoever is free. The engine itself recovers only what its own executor id
 * held before; without its hosted companion somebody has to tell it who is dead.
 */
export async function takeOverFromDead({ database, log }: TaskRunner): Promise<void> {
  const dead = await buryDead(database);
  if (dead.length === 0) return;
  const recovered = await DBOSExecutor.globalInstance?.recoverPendingWorkflows(dead);
  log.warn(
    { executors: dead, tasks: recovered?.map((task) => task.workflowID) },
    'took over from dead workers',
  );
}

/** Ends the tasks that nobody else will end: overdue ones, and those whose work was cancelled or broke off. */
export async function endLost(runner: TaskRunner): Promise<void> {
  const now = runner.clock.now();
  const { rows } = await sql<Unended>`
    select t.id, w.status, t.deadline_at, t.deadline_at <= ${now} as overdue
    from tasks t left join dbos.workflow_status w on w.workflow_uuid = t.id::text
    where t.state in ('NEW', 'RUNNING') and t.input is null
      and (t.deadline_at <= ${now} or w.status is null or w.status not in ('ENQUEUED', 'DELAYED', 'PENDING'))
    limit ${BATCH}`.execute(runner.database.sql);
  for (const task of rows) await endOne(runner, task);
}

async function endOne(runner: TaskRunner, task: Unended): Promise<void> {
  const job = await jobOf(task.id);
  const reason = task.overdue ? await overdueReason(task) : lostReason(task);
  await failTask(
    runner,
    { id: task.id, handler: job && runner.handlers.get(job.type), input: job?.input },
    reason,
  );
  if (task.overdue && task.status !== null) await DBOS.cancelWorkflow(task.id);
}

async function jobOf(taskId: string): Promise<TaskJob | undefined> {
  const [workflow] = await DBOS.listWorkflows({ workflowIDs: [taskId], loadInput: true });
  return workflow?.input?.[0] as TaskJob | undefined;
}

function lostReason({ id, status }: Unended): string {
  if (status === 'CANCELLED') return 'The task was cancelled';
  if (status === 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
    return 'The task was given up: the worker running it stopped too many times';
  return `The task failed because of an internal error. The server's log has the details under task ${id}`;
}

async function overdueReason({ id, status, deadline_at }: Unended): Promise<string> {
  const steps = status === null ? [] : ((await DBOS.listWorkflowSteps(id)) ?? []);
  const last = steps.filter((step) => !step.name.startsWith('DBOS.')).at(-1)?.name;
  const progress =
    status === 'ENQUEUED'
      ? 'no worker was free to take it'
      : last === undefined
        ? 'its first step did not finish'
        : `last step done: "${last}"`;
  return `deadline exceeded: the task should have ended by ${deadline_at.toISOString()}; ${progress}`;
}

/** Tells the tasks of this process that ended elsewhere, so that what they are doing stops. */
export async function stopEnded({ database, running }: TaskRunner): Promise<void> {
  if (running.size === 0) return;
  const ended = await database.sql
    .selectFrom('tasks')
    .select('id')
    .where('id', 'in', [...running.keys()])
    .where('state', 'in', ['FINISHED', 'ERROR'])
    .execute();
  for (const { id } of ended) running.get(id)?.abort(new Error('The task has ended'));
}

/** Forgets how tasks ran that ended long ago; the tasks themselves stay. */
export async function forgetFinished(clock: TaskRunner['clock']): Promise<void> {
  const old = await DBOS.listWorkflows({
    status: ['SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'],
    endTime: new Date(clock.now().getTime() - KEEP_FINISHED_MS).toISOString(),
    limit: BATCH,
    loadInput: false,
    loadOutput: false,
  });
  if (old.length > 0) await DBOS.deleteWorkflows(old.map((workflow) => workflow.workflowID));
}
