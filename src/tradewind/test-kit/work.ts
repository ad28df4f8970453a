import { setTimeout as sleep } from 'node:timers/promises';
import { hurryObjects, stretchObjects } from '../../backends/simulated/objects.ts';
import { failTask } from '../../convergence/failures.ts';
import type { Endings } from '../../convergence/waiting-tasks.ts';
import { lookAgain } from '../../convergence/wants.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';

const FINISH_WITHIN_MS = 10_000;
const LOOK_MS = 10;

/** Changes the course of tasks that are being worked on. */
export interface WorkInProgress {
  /**
   * Ends simulated work of the task at once, and returns when the task has ended. @throws NotFoundError; ConflictError
   * for a task that does not end, since a rule or a real backend holds it
   */
  finish(taskId: string): Promise<void>;
  /** Ends the task as if the infrastructure had refused it. @throws NotFoundError, ConflictError if it has ended */
  fail(taskId: string, reason: string): Promise<void>;
  /** Lets work that has begun take another time, which is the former one times `factor`. */
  stretch(factor: number): Promise<void>;
  /** Lets workers look at everything again, since the time has changed. */
  lookAgain(): Promise<void>;
}

export function createWorkInProgress(endings: Endings): WorkInProgress {
  const { database } = endings;

  async function stateOf(taskId: string): Promise<string> {
    const task = isUuid(taskId)
      ? await database.sql.selectFrom('tasks').select('state').where('id', '=', taskId).executeTakeFirst()
      : undefined;
    if (!task) throw new NotFoundError('Task', taskId);
    return task.state;
  }
  const hasEnded = async (taskId: string) => ['FINISHED', 'ERROR'].includes(await stateOf(taskId));

  return {
    async finish(taskId) {
      const end = performance.now() + FINISH_WITHIN_MS;
      while (!(await hasEnded(taskId))) {
        if (performance.now() > end) {
          throw new ConflictError(
            `Task ${taskId} does not end: a rule, or something that is not simulated, holds it`,
          );
        }
        await database.transaction(async (tx) => {
          // What comes later is only begun when the first things are done.
          await hurryObjects(tx.sql, taskId);
          await lookAgain(tx);
        });
        await sleep(LOOK_MS);
      }
    },

    async fail(taskId, reason) {
      if (await hasEnded(taskId)) throw new ConflictError(`Task ${taskId} has ended`);
      const failed = await database.transaction((tx) => failTask(endings, tx, taskId, reason));
      if (!failed) throw new ConflictError(`Task ${taskId} has ended`);
    },

    async stretch(factor) {
      await database.transaction(async (tx) => {
        await stretchObjects(tx.sql, factor);
        await lookAgain(tx);
      });
    },

    lookAgain: () => database.transaction(lookAgain),
  };
}
