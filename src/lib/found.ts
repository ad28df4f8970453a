import { NotFoundError } from './errors.ts';
import { isUuid } from './ids.ts';

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
