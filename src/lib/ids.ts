import { v7 } from 'uuid';
import { NotFoundError } from './errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Whether a text may be sent to the database as a uuid. Anything else can't exist, so it is a 404 in a path.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

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
