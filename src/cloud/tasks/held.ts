import { ConflictError } from '../../lib/errors.ts';

/** What a task works on takes no other change. @throws ConflictError naming the task */
export function refuseHeld(what: string, { task_id }: { task_id: string | null }): void {
  if (task_id !== null) throw new ConflictError(`${what} is held by task ${task_id}; wait until it ends`);
}
