import { ConflictError } from './errors.ts';

/** What a task works on takes no other change. @throws ConflictError naming the task */
export function refuseHeld(what: string, { task_id }: { task_id: string | null }): void {
  if (task_id !== null) throw new ConflictError(`${what} is held by task ${task_id}; wait until it ends`);
}

/** What keeps something in another status than the one that it can be copied in. */
export function blockerOf(
  { status, task_id: taskId }: { status: string; task_id: string | null },
  copied: string,
): string | undefined {
  if (taskId !== null) return `task ${taskId}`;
  return status === copied ? undefined : `its status ${status}`;
}
