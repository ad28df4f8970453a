import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Logger } from 'pino';
import { isTransient, reasonFor } from './failure.ts';
import { type Gate, parked } from './gate.ts';
import { attemptStep, untilAborted } from './step.ts';
import { beginTask, failTask, finishTask, type TaskEnding } from './task-end.ts';
import { TaskFailure, type TaskHandler, type TaskRun } from './task-handler.ts';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** The work of one task, as the queue keeps it. `id` is that of the tasks row and of the workflow. */
export interface TaskJob {
  id: string;
  type: string;
  input: unknown;
}

export interface TaskRunner extends TaskEnding {
  handlers: ReadonlyMap<string, TaskHandler>;
  gate: Gate;
  /** Tasks running in this process; aborting one says that it ended elsewhere. */
  running: Map<string, AbortController>;
}

/** The one workflow of the engine: a task from NEW to its end. */
export async function runTask(runner: TaskRunner, job: TaskJob): Promise<void> {
  if (runner.gate.closed) await parked();
  const controller = new AbortController();
  runner.running.set(job.id, controller);
  try {
    await pursue(runner, job, controller.signal);
  } finally {
    // A stale run of a task that came back to this process must not take away the new run's entry.
    if (runner.running.get(job.id) === controller) runner.running.delete(job.id);
  }
}

async function pursue(runner: TaskRunner, { id, type, input }: TaskJob, signal: AbortSignal): Promise<void> {
  const { log, gate } = runner;
  const handler = runner.handlers.get(type);
  if (!handler) {
    await failTask(runner, { id, handler, input }, `Tasks of the type ${type} are not known to this version`);
    return;
  }
  const store = <T>(write: () => Promise<T>) => persist(write, signal, gate, log);
  if (!(await store(() => beginTask(runner, id)))) return;
  const { run, interruption } = taskRun(id, signal, gate, log);
  let failure: unknown;
  try {
    const result = await handler.run(run, input);
    interruption.throwIfAny();
    await store(() => finishTask(runner, { id, handler, input }, result));
    return;
  } catch (error) {
    interruption.throwIfAny();
    signal.throwIfAborted();
    failure = error;
  }
  if (!(failure instanceof TaskFailure)) log.error({ err: failure, taskId: id, type }, 'task failed');
  await store(() => failTask(runner, { id, handler, input }, reasonFor(failure, id)));
}

/** The engine's side of a run. An interruption is the engine's own: this process lost the task, or the task ended. */
function taskRun(taskId: string, signal: AbortSignal, gate: Gate, log: Logger) {
  let interrupted: { by: unknown } | undefined;
  const interruption = {
    throwIfAny() {
      if (interrupted) throw interrupted.by;
    },
  };
  async function engine<T>(work: () => Promise<T>): Promise<T> {
    // A handler that swallows an interruption doesn't get to go on.
    interruption.throwIfAny();
    if (gate.closed) await parked();
    try {
      return await work();
    } catch (error) {
      interrupted = { by: error };
      throw error;
    }
  }
  const run: TaskRun = {
    taskId,
    async step(name, work) {
      const outcome = await engine(async () => {
        const leave = gate.enter();
        try {
          return await DBOS.runStep(() => attemptStep(work, { taskId, name, signal, gate, leave, log }), {
            name,
          });
        } finally {
          leave();
        }
      });
      if (!outcome.ok) throw new TaskFailure(outcome.reason);
      return outcome.value;
    },
    sleep: (ms) => engine(() => untilAborted(signal, DBOS.sleepms(ms))),
  };
  return { run, interruption };
}

/** Writes a change of the task's own row. The database being away for a while must not fail the task. */
async function persist<T>(write: () => Promise<T>, signal: AbortSignal, gate: Gate, log: Logger): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const leave = gate.enter();
    try {
      return await write();
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.warn({ err: error }, 'the task store can not be reached, trying again');
    } finally {
      leave();
    }
    await delay(pause, undefined, { signal });
    if (gate.closed) await parked();
  }
}
