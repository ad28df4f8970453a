import type { Principal } from '../../iam/identity/principal.ts';
import { ConflictError } from '../../lib/errors.ts';
import type { Tasks } from './service.ts';

/** Well below the time that a request may take. */
const MOST_SECONDS = 30;

/** What operations say of themselves that answer after `waitForTask`. */
export const WAIT_TEXT = `The answer comes when it is done, or after ${MOST_SECONDS} seconds with what is there then.`;

/**
 * Holds the answer to a client that knows no tasks until its task has ended, for half a minute at most.
 * @throws ConflictError when the task failed, and `what` is as it was
 */
export async function waitForTask(
  tasks: Pick<Tasks, 'ended'>,
  taskId: string,
  what: string,
  { principal, gone }: { principal: Principal; gone: AbortSignal },
): Promise<void> {
  const { task } = await tasks.ended(principal, taskId, { seconds: MOST_SECONDS, gone });
  if (task.state === 'ERROR') throw new ConflictError(`${what} stays as it was: ${task.error}`);
}
