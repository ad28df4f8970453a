import { v7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text may be sent to the database as a uuid. Anything else names nothing, so it is a 404 in a path. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** They grow with time: new tasks are neighbours in every index. */
export const newTaskId = (): string => v7();
