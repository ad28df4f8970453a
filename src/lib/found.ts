import { NotFoundError } from './errors.ts';
import { isUuid } from './ids.ts';

/** @throws NotFoundError when there is nothing */
export function found<T>(kind: string, id: string | number, thing: T | undefined): T {
  if (thing === undefined) throw new NotFoundError(kind, id);
  return thing;
}

/** What there is by that id. One that is no UUID names nothing, and isn't asked for. @throws NotFoundError */
export async function foundById<T>(kind: string, id: string, find: () => Promise<T | undefined>): Promise<T> {
  return found(kind, id, isUuid(id) ? await find() : undefined);
}
