import { ConflictError } from './errors.ts';

/** Refuses changes of a resource that a task works on. @throws ConflictError naming the task */
export function refuseHeld(what: string, { task_id }: { task_id: string | null }): void {
  if (task_id !== null) throw new ConflictError(`${what} is held by task ${task_id}; wait until it ends`);
}

/** Returns what keeps a resource from being in the status in which it can be copied. */
export function blockerOf(
  { status, task_id: taskId }: { status: string; task_id: string | null },
  copied: string,
): string | undefined {
  if (taskId !== null) return `task ${taskId}`;
  return status === copied ? undefined : `its status ${status}`;
}
