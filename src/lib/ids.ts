import { v7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Whether a text may be sent to the database as a uuid. Anything else can't exist, so it is a 404 in a path.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Task ids grow with time, so that new tasks are neighbours in every index. */
export const newTaskId = (): string => v7();
