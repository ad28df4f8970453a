import { type ConflictError, HeldError, UsedError } from './errors.ts';

/** Refuses changes of a resource that a task works on. @throws HeldError naming the task */
export function refuseHeld(what: string, { task_id: id }: { task_id: string | null }): void {
  if (id !== null) throw new HeldError(`${what} is held by task ${id}; wait until it ends`, id);
}

/**
 * Returns the refusal of something that others use. `leaving` names for each of them the task that takes it away, if there
 * is one: if all of them go, a deletion may wait for that.
 */
export function inUse(message: string, leaving: readonly (string | undefined)[]): ConflictError {
  const tasks = leaving.flatMap((id) => id ?? []);
  const [first] = tasks;
  return first !== undefined && tasks.length === leaving.length
    ? new HeldError(message, first)
    : new UsedError(message);
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
    if (error instanceof UsedError) return remove();
    throw error;
  }
}
