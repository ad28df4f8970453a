import { type ConflictError, HeldError, UsedError } from './errors.ts';

/** Refuses changes of a resource that a task works on. @throws HeldError naming the task */
export function refuseHeld(what: string, { task_id: id }: { task_id: string | null }): void {
  if (id !== null) throw new HeldError(`${what} is held by task ${id}; wait until it ends`, id);
}

/** More users of each kind are not looked at: a deletion doesn't wait for so many. */
export const LOOKED_AT = 500;
export const SHOWN_IN_MESSAGE = 10;

/** Returns the first of the users, for a message. */
export const someOf = (users: readonly string[]): string => users.slice(0, SHOWN_IN_MESSAGE).join(', ');

/**
 * Returns the refusal of something that others use. `leaving` names for each of them the task that takes it away, if there
 * is one: if all of them go, a deletion may wait for that. `haveLeft` says whether some are gone since they were found.
 */
export function inUse(
  message: string,
  leaving: readonly (string | undefined)[],
  haveLeft = false,
): ConflictError {
  const tasks = leaving.flatMap((id) => id ?? []);
  const [first] = tasks;
  return first !== undefined && tasks.length === leaving.length && leaving.length < LOOKED_AT
    ? new HeldError(message, first)
    : new UsedError(message, haveLeft || first !== undefined);
}

/** Returns what keeps a resource from being in the status in which it can be copied. */
export function blockerOf(
  { status, task_id: taskId }: { status: string; task_id: string | null },
  copied: string,
): string | undefined {
  if (taskId !== null) return `task ${taskId}`;
  return status === copied ? undefined : `its status ${status}`;
}

/** Removes it. The last user may have gone between the look at the users and that at their tasks. */
export async function twice<T>(remove: () => Promise<T>): Promise<T> {
  try {
    return await remove();
  } catch (error) {
    if (error instanceof UsedError && error.changing) return remove();
    throw error;
  }
}
