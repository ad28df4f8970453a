import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { type ConflictError, HeldError, NotFoundError, UsedError } from './errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text may be sent to the database as a uuid. Anything else can't exist, so it is a 404 in a path. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Returns the ID of a new thing: a random UUID, which nobody can guess or count. */
export const newId = (): string => randomUUID();

/** They grow with time: new tasks are neighbours in every index, and the table is cut into quarters by them. */
export const newTaskId = (): string => v7();

/** No task that was begun at that moment or later has a smaller one. */
export function firstTaskId(moment: Date): string {
  const time = moment.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** @throws NotFoundError if `thing` is undefined */
export function found<T>(kind: string, id: string | number, thing: T | undefined): T {
  if (thing === undefined) throw new NotFoundError(kind, id);
  return thing;
}

/**
 * Returns the thing with that id. An id that is not a UUID can't exist, so it is not looked up.
 * @throws NotFoundError
 */
export async function foundById<T>(kind: string, id: string, find: () => Promise<T | undefined>): Promise<T> {
  return found(kind, id, isUuid(id) ? await find() : undefined);
}

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
export function inUse(message: string, leaving: readonly (string | undefined)[], haveLeft = false): ConflictError {
  const tasks = leaving.flatMap((id) => id ?? []);
  const [first] = tasks;
  return first !== undefined && tasks.length === leaving.length && leaving.length < LOOKED_AT
    ? new HeldError(message, first)
    : new UsedError(message, haveLeft || first !== undefined);
}

/** Returns what keeps a resource from being in the status in which it can be copied. */
export function blockerOf({ status, task_id: taskId }: { status: string; task_id: string | null }, copied: string) {
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
